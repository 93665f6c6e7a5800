// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/container_run.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::executor::docker {
namespace {

using testing::HasSubstr;

// Nobody holds the run's lock, and its engine is not there.
class ContainerRunTest : public testing::Test {
protected:
    ContainerRunTest()
    {
        EXPECT_TRUE(os::make_directories(directory_.task()));
        EXPECT_TRUE(os::replace_file(directory_.task() / control::log, "half a line"));
    }
    void give_to_engine()
    {
        EXPECT_TRUE(notes_.write(
            name_,
            {folder_.path() / "no.sock", Container::Tree::mounted, ContainerNote::Stage::started}));
    }
    Result<JobStatus> look() { return ContainerRun(directory_, files_, notes_, name_).look({}); }

    os::TestFolder folder_;
    const std::string name_ = RunId::make().text();
    const RunDirectory directory_{folder_.path() / "run"};
    const SealedFiles files_{directory_.task(), std::string(32, 'k')};
    const ContainerNotes notes_{folder_.path() / "home"};
};

TEST_F(ContainerRunTest, EngineThatIsAwaySaysNothingAboutTheRun)
{
    give_to_engine();

    const auto status = look();

    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind(), ErrorKind::unreachable);
    EXPECT_THAT(status.error().message(), HasSubstr("no.sock"));
}

TEST_F(ContainerRunTest, RunThatNoEngineWasGivenIsStarting)
{
    const auto status = look();

    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(status->phase, JobPhase::starting);
    EXPECT_EQ(status->log_length, 11U);
}

TEST_F(ContainerRunTest, RecordOfTheEndNeedsNoEngine)
{
    give_to_engine();
    model::ExitRecord record;
    record.code = 3;
    record.started = 17;
    ASSERT_TRUE(files_.publish(control::exit, model::to_text(record)));

    const auto status = look();

    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(status->phase, JobPhase::ended);
    EXPECT_EQ(status->exit->status(), 3);
    EXPECT_EQ(status->started, 17);
}

}  // namespace
}  // namespace ponk::executor::docker

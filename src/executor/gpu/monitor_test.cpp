// SPDX-License-Identifier: Apache-2.0
#include "executor/gpu/monitor.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "model/exit_record.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::executor {
namespace {

using testing::HasSubstr;

// The folder of a run whose side was killed before the script began.
class KilledMonitor : public testing::Test {
protected:
    KilledMonitor()
    {
        EXPECT_TRUE(os::make_directories(run_.task()));
        EXPECT_TRUE(os::replace_file(run_.task() / control::monitor, "{}", 0600));
    }

    JobStatus ask()
    {
        JobStatus status;
        status.phase = JobPhase::starting;
        EXPECT_TRUE(add_monitor_state(files_, run_, status));
        return status;
    }

    // As a supervisor does it that is about to begin.
    os::Fd begin()
    {
        auto lock = os::open_file(run_.task() / control::lock, O_RDWR | O_CREAT).value();
        struct flock whole {};
        whole.l_type = F_WRLCK;
        EXPECT_EQ(::fcntl(lock.get(), F_OFD_SETLK, &whole), 0);
        EXPECT_EQ(::mkdir((run_.task() / control::claim).c_str(), 0700), 0);
        return lock;
    }

    os::TestFolder folder_;
    RunDirectory run_{folder_.path()};
    SealedFiles files_{run_.task(), std::string(64, 'a')};
};

TEST_F(KilledMonitor, IsToldEachTimeSinceTheFirstAnswerMayBeLost)
{
    EXPECT_EQ(ask().phase, JobPhase::lost);
    const auto again = ask();
    EXPECT_EQ(again.phase, JobPhase::lost);
    EXPECT_THAT(again.reason, HasSubstr("nothing was executed"));
    EXPECT_TRUE(is_there(run_.task() / control::claim)) << "a late supervisor must not begin";
}

TEST_F(KilledMonitor, DoesNotLoseARunThatASupervisorHasClaimed)
{
    auto lock = begin();
    EXPECT_EQ(ask().phase, JobPhase::starting);
    lock.reset();
    EXPECT_EQ(ask().phase, JobPhase::lost) << "killed as well, before it said anything";
}

TEST_F(KilledMonitor, DoesNotHideTheRecordOfTheEnd)
{
    begin().reset();
    ASSERT_TRUE(files_.publish(control::exit, to_text(model::ExitRecord{.by = "stub"})));
    EXPECT_EQ(ask().phase, JobPhase::ended);
}

TEST(ClaimStart, IsWhatASupervisorFindsThatComesLate)
{
    const os::TestFolder folder;
    auto claimed = claim_start(folder.path()).value();
    ASSERT_TRUE(claimed);
    EXPECT_TRUE(is_locked(folder.path()));
    EXPECT_TRUE(is_there(folder.path() / control::claim));
    EXPECT_FALSE(claim_start(folder.path()).value()) << "somebody has it";
    claimed.reset();
    EXPECT_TRUE(claim_start(folder.path()).value());
    EXPECT_FALSE(claim_start(folder.path() / "gone"));
}

}  // namespace
}  // namespace ponk::executor

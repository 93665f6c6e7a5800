// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "dockerapi/endpoint.hpp"
#include "dockerapi/engine.hpp"
#include "os/directory.hpp"
#include "os/socket.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::dockerapi {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class Endpoints : public testing::Test {
protected:
    Result<Path> find(std::vector<std::string> more = {})
    {
        more.push_back("DOCKER_CONFIG=" + folder_.path().string());
        return find_socket(more);
    }
    os::TestFolder folder_;
};

TEST_F(Endpoints, DockerHostWins)
{
    EXPECT_EQ(find({"DOCKER_HOST=unix:///run/x.sock"}).value(), "/run/x.sock");
}

TEST_F(Endpoints, AnotherMachineIsATarget)
{
    const auto found = find({"DOCKER_HOST=tcp://gpu-host:2375"});
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("DOCKER_HOST is 'tcp://gpu-host:2375'"));
    EXPECT_THAT(found.error().hint(), HasSubstr("attach remotedocker"));
}

TEST_F(Endpoints, TheCurrentContextIsUsed)
{
    const auto meta = folder_.path() / "contexts" / "meta" / sha256("mine").text();
    ASSERT_TRUE(os::make_directories(meta));
    ASSERT_TRUE(os::replace_file(
        meta / "meta.json",
        R"({"Name":"mine","Endpoints":{"docker":{"Host":"unix:///run/mine.sock"}}})"));
    ASSERT_TRUE(os::replace_file(folder_.path() / "config.json", R"({"currentContext": "mine"})"));

    EXPECT_EQ(find().value(), "/run/mine.sock");
    EXPECT_THAT(find({"DOCKER_CONTEXT=other"}).error().message(),
                HasSubstr("context 'other' does not exist"));
}

TEST_F(Endpoints, AMissingEngineIsNamedWithTheNextStep)
{
    const auto engine = Engine::connect(folder_.path() / "none.sock", after(5s));
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().kind(), ErrorKind::unreachable);
    EXPECT_THAT(engine.error().message(), HasSubstr("none.sock"));
    EXPECT_THAT(engine.error().hint(), HasSubstr("DOCKER_HOST"));
}

TEST_F(Endpoints, AnEngineThatNeverAnswersIsGivenUp)
{
    const auto path = folder_.path() / "deaf.sock";
    const auto listener = os::listen_unix(path);
    ASSERT_TRUE(listener);

    const auto engine = Engine::connect(path, after(50ms));

    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().kind(), ErrorKind::unreachable);
}

}  // namespace
}  // namespace ponk::dockerapi

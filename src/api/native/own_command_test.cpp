// SPDX-License-Identifier: Apache-2.0
#include "api/native/own_command.hpp"
#include "base/work_budget.hpp"
#include "os/file.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

namespace ponk::api {
namespace {

using namespace std::chrono_literals;

TEST(OwnCommand, WithAllThatItStartedItEndsWithItsRequest)
{
    const auto folder = *os::make_temporary_directory(testing::TempDir(), "ponk-own-");
    const auto pid_file = folder / "pid";
    // As git below 'ponk project create': it knows nothing of the request.
    const os::Command command{
        .argv = {"/bin/sh", "-c", "sleep 600 & echo $! > pid.new; mv pid.new pid; wait"},
        .directory = folder,
        .session = os::Command::Session::own};
    WorkBudget budget;
    std::thread client([&] {
        while (!std::filesystem::exists(pid_file))
            std::this_thread::sleep_for(1ms);
        budget.abandon();
    });
    {
        const WorkScope scope(&budget);
        const auto done = run_while_wanted(command, 600s);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind(), ErrorKind::cancelled);
    }
    client.join();
    const auto pid = std::stoi(*os::read_file(pid_file));
    // Ended, though whoever adopted it may not have asked how.
    const auto is_running = [pid] {
        const auto state = os::read_file(fmt::format("/proc/{}/stat", pid));
        return state && state->find(") Z") == std::string::npos;
    };
    for (int look = 0; is_running() && look < 2000; ++look)
        std::this_thread::sleep_for(5ms);
    EXPECT_FALSE(is_running());
    if (is_running()) ::kill(pid, SIGKILL);
    static_cast<void>(os::remove_tree(folder));
}

TEST(OwnCommand, ThatEndsByItselfGivesWhatItPrinted)
{
    const auto done = run_while_wanted({.argv = {"/bin/sh", "-c", "echo out; exit 3"}}, 600s);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(done->out, "out\n");
    EXPECT_EQ(done->exit.code, 3);
}

}  // namespace
}  // namespace ponk::api

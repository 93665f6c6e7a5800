// SPDX-License-Identifier: Apache-2.0
#include "os/wait.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <unistd.h>

namespace ponk::os {
namespace {

using namespace std::chrono_literals;

TEST(Wait, EndsWhenStopped)
{
    const auto pipe = *make_pipe();
    std::stop_source stop;
    std::jthread other([&stop] {
        std::this_thread::sleep_for(20ms);
        stop.request_stop();
    });

    const auto waited = wait_readable(pipe.read.get(), after(60s), stop.get_token());

    ASSERT_FALSE(waited);
    EXPECT_EQ(waited.error().kind(), ErrorKind::cancelled);
}

TEST(Wait, EndsAtItsDeadline)
{
    const auto pipe = *make_pipe();
    EXPECT_EQ(wait_readable(pipe.read.get(), after(10ms), {}).error().kind(), ErrorKind::timeout);
}

TEST(Wait, TellsWhichIsReady)
{
    const auto first = *make_pipe();
    const auto second = *make_pipe();
    ASSERT_EQ(::write(second.write.get(), "x", 1), 1);
    const int fds[] = {first.read.get(), second.read.get()};
    EXPECT_EQ(*wait_any(fds, after(1s), {}), 1U);
}

}  // namespace
}  // namespace ponk::os

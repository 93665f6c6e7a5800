// SPDX-License-Identifier: Apache-2.0
#include "os/chore.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace ponk::os {
namespace {

TEST(ChoreTest, CallsWhileItIsDoneMakeItBeDoneOnceMore)
{
    std::atomic<int> done = 0;
    std::latch begun(1);
    std::latch called(1);
    std::latch again(1);
    Chore chore("test-chore", [&] {
        if (++done == 1) {
            begun.count_down();
            called.wait();
        } else if (done == 2) {
            again.count_down();
        }
    });

    chore.call();
    begun.wait();
    for (int i = 0; i < 5; ++i)
        chore.call();
    called.count_down();
    again.wait();

    EXPECT_EQ(done, 2);
}

TEST(ChoreTest, EndsInTheMiddleWithoutDoingItAgain)
{
    std::atomic<int> done = 0;
    std::latch begun(1);
    {
        Chore chore("test-chore", [&] {
            if (++done == 1) begun.count_down();
        });
        chore.call();
        begun.wait();
    }
    const int seen = done;
    EXPECT_EQ(seen, 1);
    const Chore never_called("test-chore", [&] { ++done; });
    EXPECT_EQ(done, seen);
}

TEST(ChoreTest, OneThatIsDelayedEndsBeforeItIsDone)
{
    std::atomic<int> done = 0;
    {
        Chore chore(
            "test-chore", [&] { ++done; }, std::chrono::hours(1));
        chore.call();
    }
    EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace ponk::os

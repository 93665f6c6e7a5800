// SPDX-License-Identifier: Apache-2.0
#include "engine/context/notifier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace ponk::engine {
namespace {

TEST(Notifier, RingsThoseWhoListenToTheRun)
{
    Notifier notifier;
    const auto mine = RunId::make();
    int heard = 0;
    auto subscription = notifier.subscribe(mine, [&heard] { ++heard; });

    notifier.ring(mine);
    notifier.ring(RunId::make());

    EXPECT_EQ(heard, 1);
}

TEST(Notifier, IsSilentAfterTheSubscriptionEnded)
{
    Notifier notifier;
    const auto run = RunId::make();
    int heard = 0;
    {
        auto first = notifier.subscribe(run, [&heard] { ++heard; });
        auto moved = std::move(first);
        notifier.ring(run);
    }
    notifier.ring(run);

    EXPECT_EQ(heard, 1);
}

TEST(Notifier, ServesManyThreads)
{
    Notifier notifier;
    const auto run = RunId::make();
    std::atomic<int> heard{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < 200; ++n) {
                    auto subscription = notifier.subscribe(run, [&heard] { ++heard; });
                    notifier.ring(run);
                }
            });
        }
    }
    EXPECT_GE(heard, 800);
}

}  // namespace
}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "net/server_work_test_support.hpp"
#include "net/workers.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace ponk::net {
namespace {

TEST(WorkersTest, AClientThatUsedMuchCpuTimeHasFewThreads)
{
    Workers workers(6);
    Accounts accounts;
    const auto heavy = accounts.find("heavy");
    const auto other = accounts.find("other");
    heavy->turn.load = std::int64_t{3600} * 1'000'000'000;
    heavy->turn.load_at = std::chrono::steady_clock::now().time_since_epoch().count();

    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    for (int i = 0; i < 8; ++i) {
        workers.run(heavy, Reception::Pace::quick, [&running, &most] {
            most = std::max<int>(most, ++running);
            std::this_thread::sleep_for(2ms);
            --running;
        });
    }
    bool ran = false;
    workers.run(other, Reception::Pace::quick, [&ran] { ran = true; });
    workers.join();

    EXPECT_TRUE(ran);
    EXPECT_LE(most, 2);
}

TEST(WorkersTest, WhatComputesForOthersLeavesAProcessorFreeAndTheOwnerIsNotCounted)
{
    const auto processors = std::max(1U, std::thread::hardware_concurrency());
    const int most_expected = static_cast<int>(std::max(1U, processors - 1));
    Workers workers(3 * (processors + 2));
    Accounts accounts;
    std::atomic<int> running = 0;
    std::atomic<int> most = 0;
    std::atomic<bool> open = false;
    const auto compute = [&] {
        most = std::max<int>(most, ++running);
        while (!open)
            std::this_thread::sleep_for(1ms);
        --running;
    };
    for (unsigned i = 0; i < 2 * processors + 2; ++i) {
        const auto pace = i % 2 == 0 ? Reception::Pace::compute : Reception::Pace::piece;
        workers.run(accounts.find(std::to_string(i)), pace, compute);
    }
    ASSERT_TRUE(becomes_true([&] { return running == most_expected; }));

    std::atomic<int> others = 0;
    workers.run(accounts.find(""), Reception::Pace::compute, [&others] { ++others; });
    workers.run(accounts.find("quick"), Reception::Pace::quick, [&others] { ++others; });
    EXPECT_TRUE(becomes_true([&others] { return others == 2; }));
    EXPECT_EQ(running, most_expected);
    open = true;
    workers.join();

    EXPECT_EQ(most, most_expected);
}

// A piece that was made is followed by the next one as soon as it was sent.
TEST(WorkersTest, WhatComputesAndWhatIsSlowHaveTheirTurnsWhileBodiesOfTheSameClientAreSent)
{
    for (const auto pace : {Reception::Pace::compute, Reception::Pace::slow}) {
        Workers workers(1);
        Accounts accounts;
        const auto client = accounts.find("a");
        std::atomic<int> pieces = 0;
        std::atomic<int> pieces_before = -1;
        std::function<void()> piece = [&] {
            if (++pieces < 1000) workers.run(client, Reception::Pace::piece, piece);
        };
        workers.run(client, Reception::Pace::quick, [&] {
            workers.run(client, Reception::Pace::piece, piece);
            workers.run(client, Reception::Pace::piece, piece);
            workers.run(client, pace, [&] { pieces_before = pieces.load(); });
        });

        EXPECT_TRUE(becomes_true([&] { return pieces >= 1000 && pieces_before >= 0; }));
        workers.join();
        EXPECT_LE(pieces_before, 2);
    }
}

TEST(WorkersTest, EndWhenAllThatWaitsWasRunWhateverItsPace)
{
    std::atomic<int> done = 0;
    {
        Workers workers(6);
        Accounts accounts;
        for (int i = 0; i < 40; ++i) {
            workers.run(accounts.find(std::to_string(i % 3)), Reception::Pace::piece, [&done] {
                std::this_thread::sleep_for(1ms);
                ++done;
            });
        }
    }
    EXPECT_EQ(done, 40);
}

}  // namespace
}  // namespace ponk::net

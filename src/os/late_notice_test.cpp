// SPDX-License-Identifier: Apache-2.0
#include "os/late_notice.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace ponk::os {
namespace {

using namespace std::chrono_literals;

TEST(LateNotice, IsSaidOnceWhenItTakesLongAndNeverWhenItDoesNot)
{
    std::atomic<int> said{0};
    {
        const LateNotice quick(1h, [&] { ++said; });
    }
    EXPECT_EQ(said, 0);
    const LateNotice slow(1ms, [&] { ++said; });
    for (int i = 0; i < 10'000 && said == 0; ++i)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(said, 1);
}

}  // namespace
}  // namespace ponk::os

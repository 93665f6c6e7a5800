// SPDX-License-Identifier: Apache-2.0
#include "base/work_budget.hpp"

#include <gtest/gtest.h>

namespace ponk {
namespace {

TEST(WorkBudget, EndsWithItsClient)
{
    WorkBudget budget;
    const WorkScope scope(&budget);
    EXPECT_TRUE(check_work());

    budget.abandon();

    EXPECT_EQ(check_work().error().kind(), ErrorKind::cancelled);
    EXPECT_TRUE(work_is_over());
}

TEST(WorkBudget, EndsAtItsDeadline)
{
    const WorkBudget budget(WorkBudget::Clock::now() - std::chrono::seconds(1));

    EXPECT_EQ(budget.check().error().kind(), ErrorKind::timeout);
}

TEST(WorkBudget, IsLeftWithItsScope)
{
    WorkBudget outer;
    outer.abandon();
    const WorkScope outside(&outer);
    {
        const WorkBudget inner;
        const WorkScope inside(&inner);
        EXPECT_FALSE(work_is_over());
        const WorkScope none(nullptr);
        EXPECT_TRUE(check_work());
    }
    EXPECT_TRUE(work_is_over());
}

}  // namespace
}  // namespace ponk

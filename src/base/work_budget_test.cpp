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

TEST(WorkBudget, ADeadlineIsBroughtForwardButNeverPutOff)
{
    const auto now = WorkBudget::Clock::now();
    WorkBudget budget(now - std::chrono::seconds(1));
    budget.bring_forward(now + std::chrono::hours(1));
    EXPECT_FALSE(budget.check());

    budget.set_deadline(now + std::chrono::hours(1));
    EXPECT_TRUE(budget.check());
    budget.bring_forward(now - std::chrono::seconds(1));
    EXPECT_FALSE(budget.check());
}

TEST(WorkBudget, AnAnswerThatCanNeverBeGivenIsAnErrorForGood)
{
    WorkBudget budget;
    budget.limit_answer(1000);
    const WorkScope scope(&budget);
    EXPECT_TRUE(charge_answer(600));
    EXPECT_TRUE(charge_answer(400));

    EXPECT_EQ(charge_answer(1).error().kind(), ErrorKind::invalid_argument);
}

TEST(WorkBudget, AnAnswerWaitsForRoomBesideTheOthers)
{
    class Full final : public AnswerMeter {
    public:
        bool hold(std::size_t bytes) override { return bytes < 100; }
    } full;
    WorkBudget budget;
    budget.limit_answer(1000, &full);
    EXPECT_TRUE(budget.charge_answer(50));

    EXPECT_EQ(budget.charge_answer(50).error().kind(), ErrorKind::unavailable);
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

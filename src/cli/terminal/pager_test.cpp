// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/pager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::cli {
namespace {

using testing::Contains;
using testing::Not;

std::optional<os::Command> chosen(std::vector<std::string> more)
{
    std::vector<std::string> all{"PATH=/usr/bin:/bin", "TERM=xterm"};
    all.insert(all.end(), more.begin(), more.end());
    return pager_command(all);
}

TEST(PagerCommand, IsTheOneThatTheUserChose)
{
    EXPECT_EQ(chosen({"PAGER=head -n 3"}).value().argv.back(), "head -n 3");
    EXPECT_EQ(chosen({"PAGER=head -n 3", "PONK_PAGER=tail"}).value().argv.back(), "tail");
    EXPECT_EQ(chosen({"PAGER=X=1 head | tail"}).value().argv.back(), "X=1 head | tail");
}

TEST(PagerCommand, IsNoneWhereNothingShallStandBetween)
{
    EXPECT_FALSE(chosen({"PAGER=cat"}));
    EXPECT_FALSE(chosen({"PAGER="}));
    EXPECT_FALSE(chosen({"PAGER=tail", "PONK_PAGER="}));
    EXPECT_FALSE(pager_command({"PATH=/usr/bin:/bin", "TERM=dumb", "PAGER=tail"}));
    EXPECT_FALSE(pager_command({"PATH=/usr/bin:/bin", "PAGER=tail"}));
}

TEST(PagerCommand, IsNoneWhereTheProgramIsMissing)
{
    EXPECT_FALSE(chosen({"PAGER=no-such-pager -x"}));
    EXPECT_FALSE(chosen({"PAGER=/no/such/pager"}));
    EXPECT_FALSE(pager_command({"PATH=/nowhere", "TERM=xterm"}));
}

TEST(PagerCommand, TellsLessToLeaveShortTextsAndColoursAlone)
{
    EXPECT_THAT(chosen({"PAGER=head"}).value().env.value(), Contains("LESS=FRX"));
    EXPECT_THAT(chosen({"PAGER=head", "LESS=S"}).value().env.value(), Not(Contains("LESS=FRX")));
}

}  // namespace
}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/environments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

FoundEnvironment made(std::string id, std::string machine = "")
{
    FoundEnvironment found;
    found.entry.id = std::move(id);
    found.entry.machine = std::move(machine);
    return found;
}

TEST(Environments, OneIdOnSeveralMachinesIsToldApartByTheMachine)
{
    const std::vector<FoundEnvironment> all = {
        made("4f1e00"), made("4f1e00", "ann@one"), made("4f1e00", "bob@two:5022")};
    const auto several = choose_environment(all, "4f1e00", "", {});
    ASSERT_FALSE(several);
    EXPECT_EQ(several.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(several.error().message(), "3 machines have environment '4f1e00'");
    EXPECT_EQ(several.error().hint(),
              "Use one of: '--machine ann@one', '--machine bob@two:5022' or "
              "'--machine here'.");
    for (const auto& [machine, expected] :
         {std::pair{"ann@one", "ann@one"}, {"bob@two:5022", "bob@two:5022"}, {"here", ""}}) {
        const auto chosen = choose_environment(all, "4f1e", machine, {});
        ASSERT_TRUE(chosen) << machine;
        EXPECT_EQ(chosen->entry.machine, expected);
    }
    EXPECT_FALSE(choose_environment(all, "4f1e", "carl@three", {}));
}

TEST(Environments, BeginningOfSeveralNamesEachIdOnce)
{
    const auto several = choose_environment(
        {made("4f1e00"), made("4f1e00", "ann@one"), made("4f22aa"), made("99")}, "4f", "", {});
    ASSERT_FALSE(several);
    EXPECT_EQ(several.error().message(), "'4f' matches 3 environments");
    EXPECT_EQ(several.error().hint(), "Use more characters: '4f1e00' or '4f22aa'.");
}

TEST(Environments, AbsentOneTellsOfMachinesThatCouldNotBeAsked)
{
    const auto none = choose_environment({made("99")}, "4f", "", {"'ann@one' is away"});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind(), ErrorKind::not_found);
    EXPECT_THAT(none.error().message(), testing::HasSubstr("'ann@one' is away"));
}

}  // namespace
}  // namespace ponk::engine

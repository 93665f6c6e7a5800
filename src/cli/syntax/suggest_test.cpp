// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/syntax/suggest.hpp"

#include <gmock/gmock.h>

namespace ponk::cli {
namespace {

using testing::HasSubstr;

TEST(Suggest, a_wrong_verb_behind_a_group_of_early_2017_is_translated)
{
    EXPECT_THAT(suggest_command({"execute", "submitt"}), HasSubstr("'ponk experiment submit'"));
    EXPECT_THAT(suggest_command({"computecontext", "atach"}),
                HasSubstr("'ponk computetarget attach'"));
}

TEST(Suggest, typos_in_group_verb_or_both_are_seen_through)
{
    EXPECT_THAT(suggest_command({"experiment", "sumbit"}), HasSubstr("'ponk experiment submit'"));
    EXPECT_THAT(suggest_command({"experimet", "submit"}), HasSubstr("'ponk experiment submit'"));
    EXPECT_THAT(suggest_command({"experimet", "sumbit"}), HasSubstr("'ponk experiment submit'"));
    EXPECT_THAT(suggest_command({"histroy", "list"}), HasSubstr("'ponk history list'"));
    EXPECT_THAT(suggest_command({"submti"}), HasSubstr("'ponk submit'"));
    EXPECT_THAT(suggest_command({"vesrion"}), HasSubstr("'ponk version'"));
    EXPECT_THAT(suggest_command({"compare"}), HasSubstr("'ponk history compare'"));
    EXPECT_THAT(suggest_command({"show", "last"}), HasSubstr("'ponk history info'"));
}

TEST(Suggest, what_has_no_counterpart_is_said_to_have_none)
{
    EXPECT_THAT(suggest_command({"workspace", "create"}), HasSubstr("no workspace"));
    EXPECT_THAT(suggest_command({"account", "experimentation", "list"}), HasSubstr("no account"));
    EXPECT_THAT(suggest_command({"service", "create", "realtime"}), HasSubstr("Deployment"));
    EXPECT_THAT(suggest_command({"project", "update"}), HasSubstr("git repository"));
}

TEST(Suggest, nothing_near_gets_no_guess)
{
    EXPECT_EQ(suggest_command({"xylophone"}), "");
    EXPECT_EQ(suggest_command({"experiment", "xylophone"}), "");
    EXPECT_EQ(suggest_command({}), "");
}

TEST(Suggest, options_are_corrected_too)
{
    EXPECT_EQ(suggest_option(cmd_experiment_submit, "--asynk"), "Did you mean '--async'?");
    EXPECT_EQ(suggest_option(cmd_experiment_submit, "-async"), "Did you mean '--async'?");
    EXPECT_EQ(suggest_option(cmd_experiment_submit, "--outptu=json"), "Did you mean '--output'?");
    EXPECT_EQ(suggest_option(cmd_experiment_submit, "--conda"),
              "Did you mean '--conda-dependencies'?");
    EXPECT_EQ(suggest_option(cmd_experiment_submit, "--xylophone"), "");
}

}  // namespace
}  // namespace ponk::cli

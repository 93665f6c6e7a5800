// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.hpp"
#include "cli/syntax/parse.hpp"

#include <gmock/gmock.h>

#include <set>

namespace ponk::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Line = std::vector<std::string>;

Invocation good(const Line& words)
{
    auto parsed = parse(words);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().message());
    return parsed ? std::move(*parsed) : Invocation();
}

Error bad(const Line& words)
{
    auto parsed = parse(words);
    EXPECT_FALSE(parsed.has_value());
    return parsed ? Error(ErrorKind::internal, "accepted") : parsed.error();
}

TEST(Parse, everything_after_the_script_is_left_untouched)
{
    const auto words = good({"experiment",
                             "submit",
                             "-c",
                             "docker",
                             "train.py",
                             "--epochs",
                             "3",
                             "-o",
                             "json",
                             "--",
                             "-c",
                             "--help",
                             ""});
    EXPECT_EQ(words.command, &cmd_experiment_submit);
    EXPECT_EQ(words.text("run-configuration"), "docker");
    EXPECT_EQ(words.word(0), "train.py");
    EXPECT_THAT(words.rest(), ElementsAre("--epochs", "3", "-o", "json", "--", "-c", "--help", ""));
    EXPECT_FALSE(words.has("output"));
    EXPECT_FALSE(words.help);
}

TEST(Parse, a_double_dash_lets_a_script_look_like_an_option)
{
    const auto words = good({"submit", "-a", "--", "-weird.py", "--", "x"});
    EXPECT_TRUE(words.has("async"));
    EXPECT_EQ(words.word(0), "-weird.py");
    EXPECT_THAT(words.rest(), ElementsAre("--", "x"));
}

TEST(Parse, a_script_may_be_left_out)
{
    const auto words = good({"submit", "-c", "local"});
    EXPECT_FALSE(words.word(0).has_value());
    EXPECT_TRUE(words.rest().empty());
}

TEST(Parse, the_prefix_ml_is_skipped_once)
{
    EXPECT_EQ(good({"ml", "history", "list"}).command, &cmd_history_list);
    bad({"ml", "ml", "history", "list"});
}

TEST(Parse, global_options_stand_anywhere_before_the_script)
{
    const auto words = good({"-o", "json", "history", "--query", "[0]", "list", "-p", "/tmp"});
    EXPECT_EQ(words.command, &cmd_history_list);
    EXPECT_EQ(words.text("output"), "json");
    EXPECT_EQ(words.text("query"), "[0]");
    EXPECT_EQ(words.text("project"), "/tmp");
}

TEST(Parse, values_come_joined_or_as_the_next_word)
{
    EXPECT_EQ(good({"submit", "--run-configuration=a=b", "x.py"}).text("run-configuration"), "a=b");
    EXPECT_EQ(good({"submit", "-cdocker", "x.py"}).text("run-configuration"), "docker");
    EXPECT_EQ(good({"submit", "-c=docker", "x.py"}).text("run-configuration"), "docker");
    const auto flags = good({"submit", "-auc", "docker", "x.py"});
    EXPECT_TRUE(flags.has("async") && flags.has("untracked"));
    EXPECT_EQ(flags.text("run-configuration"), "docker");
}

TEST(Parse, a_short_option_may_have_two_letters)
{
    const auto words =
        good({"history", "promote", "-r", "4f1e", "-ap", "outputs/model.pkl", "-n", "model"});
    EXPECT_EQ(words.text("artifact-path"), "outputs/model.pkl");
}

TEST(Parse, repeated_options_keep_all_values_and_others_refuse_two)
{
    EXPECT_THAT(good({"submit", "--tag", "a=1", "--tag", "b=2", "x.py"}).values("tag"),
                ElementsAre("a=1", "b=2"));
    EXPECT_THAT(bad({"submit", "-c", "a", "-c", "b", "x.py"}).message(), HasSubstr("given twice"));
}

TEST(Parse, a_forgotten_value_is_not_taken_from_the_next_option)
{
    const Error error = bad({"submit", "-c", "--async", "x.py"});
    EXPECT_THAT(error.message(), HasSubstr("'-c' needs a value"));
    EXPECT_THAT(error.hint(), HasSubstr("--run-configuration=VALUE"));
    EXPECT_EQ(good({"attach", "local", "-n", "x", "--password=-secret"}).text("password"),
              "-secret");
    EXPECT_EQ(good({"attach", "local", "-n", "x", "-w", "-secret"}).text("password"), "-secret");
}

TEST(Parse, both_attach_grammars_mean_the_same)
{
    for (const Line& words :
         {Line{"computetarget",
               "attach",
               "remotedocker",
               "--name",
               "n",
               "--address",
               "h",
               "--username",
               "u",
               "--password",
               "p"},
          Line{"computetarget",
               "attach",
               "--name",
               "n",
               "--address",
               "h",
               "--username",
               "u",
               "--password",
               "p",
               "--type",
               "remotedocker"},
          Line{"attach", "-n", "n", "-a", "h", "-u", "u", "-w", "p", "-t", "remotedocker"}}) {
        const auto parsed = good(words);
        EXPECT_EQ(parsed.command, &cmd_computetarget_attach);
        EXPECT_EQ(parsed.word(0).value_or(parsed.text("type")), "remotedocker");
        EXPECT_EQ(parsed.text("password"), "p");
    }
    EXPECT_TRUE(good({"computetarget", "attach", "--name", "n", "--cluster"}).has("cluster"));
}

TEST(Parse, wrong_choices_get_a_suggestion)
{
    const Error error = bad({"runs", "-o", "jsno"});
    EXPECT_THAT(error.message(), HasSubstr("'jsno'"));
    EXPECT_THAT(error.hint(), HasSubstr("'json'"));
    EXPECT_THAT(bad({"completion", "fihs"}).hint(), HasSubstr("'fish'"));
}

TEST(Parse, options_before_the_script_are_told_to_follow_it)
{
    EXPECT_THAT(bad({"submit", "--lr", "3", "train.py"}).hint(),
                HasSubstr("'ponk submit train.py --lr …'"));
}

TEST(Parse, too_many_and_too_few_words_are_told)
{
    EXPECT_THAT(bad({"version", "now"}).message(), HasSubstr("'now'"));
    EXPECT_THAT(bad({"query"}).message(), HasSubstr("EXPRESSION"));
    EXPECT_TRUE(good({"query", "--help"}).help);
}

TEST(Parse, places_of_a_password_in_argv_are_found_in_every_form)
{
    std::vector<std::pair<std::size_t, std::size_t>> found;
    find_values({"attach", "--password", "x", "--password=y", "-wz", "-w", "q"},
                "password",
                "w",
                [&](std::size_t index, std::size_t offset) { found.emplace_back(index, offset); });
    EXPECT_THAT(
        found,
        ElementsAre(std::pair{2U, 0U}, std::pair{3U, 11U}, std::pair{4U, 2U}, std::pair{6U, 0U}));
}

TEST(CommandTable, names_are_unique_and_every_command_can_run)
{
    std::set<std::string_view> paths;
    for (const Command* command : commands()) {
        EXPECT_NE(command->run, nullptr) << command->path;
        EXPECT_FALSE(command->summary.empty()) << command->path;
        EXPECT_TRUE(paths.insert(command->path).second) << command->path;
        for (const std::string_view alias : command->aliases) {
            EXPECT_TRUE(paths.insert(alias).second) << alias;
        }
        std::set<std::string_view> names;
        for (const Option& option : command->options) {
            EXPECT_TRUE(names.insert(option.name).second) << command->path << " --" << option.name;
            if (!option.brief.empty()) {
                EXPECT_TRUE(names.insert(option.brief).second)
                    << command->path << " -" << option.brief;
            }
            EXPECT_FALSE(option.help.empty()) << command->path << " --" << option.name;
        }
    }
}

}  // namespace
}  // namespace ponk::cli

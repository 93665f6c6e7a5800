// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/follow.hpp"
#include "cli/runs/submission.hpp"

#include <gmock/gmock.h>

namespace ponk::cli {
namespace {

using testing::HasSubstr;

TEST(Submission, spans_of_time_are_read)
{
    EXPECT_EQ(parse_time_span("90").value_or(0), 90);
    EXPECT_EQ(parse_time_span("90s").value_or(0), 90);
    EXPECT_EQ(parse_time_span("30m").value_or(0), 1800);
    EXPECT_EQ(parse_time_span("7d").value_or(0), 604800);
    for (const char* wrong : {"", "m", "-1s", "0", "1.5h", "5 m", "99999999999999999999d"}) {
        EXPECT_FALSE(parse_time_span(wrong)) << wrong;
    }
}

TEST(Submission, key_values_keep_further_equal_signs)
{
    const auto pairs = key_values({"A=1=2", "B="}, "--env").value();
    EXPECT_EQ(pairs, (model::Variables{{"A", "1=2"}, {"B", ""}}));
    EXPECT_FALSE(key_values({"=x"}, "--env"));
    EXPECT_FALSE(key_values({"x"}, "--env"));
}

TEST(Submission, a_script_is_named_relative_to_the_project)
{
    const os::Path folder = std::filesystem::canonical(
        *os::make_temporary_directory(testing::TempDir(), "ponk-script-"));
    ASSERT_TRUE(os::make_directories(folder / "project/code"));
    ASSERT_TRUE(os::replace_file(folder / "project/code/train.py", ""));
    ASSERT_TRUE(os::replace_file(folder / "other.py", ""));
    const os::Path project = folder / "project";
    EXPECT_EQ(script_in_project(project, "code/train.py").value_or(""), "code/train.py");
    EXPECT_EQ(script_in_project(project, (project / "code/train.py").string()).value_or(""),
              "code/train.py");
    EXPECT_EQ(script_in_project(project, "missing.py").value_or(""), "missing.py");
    const auto outside = script_in_project(project, (folder / "other.py").string());
    ASSERT_FALSE(outside);
    EXPECT_THAT(outside.error().message(), HasSubstr("outside the project"));
    ASSERT_TRUE(os::remove_tree(folder));
}

TEST(RunEnd, the_scripts_code_is_ours_unless_ponk_failed)
{
    const auto end = [](JsonObject fields) {
        fields.set("run_id", "0199");
        return end_of(Json(std::move(fields)));
    };
    EXPECT_EQ(end({{"status", "Completed"}, {"exit_code", 0}}).code, 0);
    EXPECT_EQ(end({{"status", "Failed"}, {"exit_code", 3}}).code, 3);
    EXPECT_FALSE(end({{"status", "Failed"}, {"exit_code", 3}}).error.has_value());
    EXPECT_EQ(end({{"status", "Failed"}, {"exit_code", 139}}).code, 139);
    EXPECT_EQ(end({{"status", "Canceled"}, {"exit_code", 143}}).code, exit_code::cancelled);
    EXPECT_EQ(end({{"status", "Canceled"}, {"exit_code", 0}}).code, exit_code::cancelled);
    const JsonObject limit{{"kind", "timeout"}, {"message", "the time limit of 5 s was reached"}};
    const RunEnd limited = end({{"status", "Failed"}, {"exit_code", 143}, {"error", limit}});
    EXPECT_EQ(limited.code, exit_code::run_failed);
    EXPECT_THAT(limited.error->message(), HasSubstr("time limit of 5 s"));
    // Our reason for an end that the script's code tells already is no error of ours.
    const JsonObject memory{{"kind", "unavailable"}, {"message", "out of memory"}};
    const RunEnd killed = end({{"status", "Failed"}, {"exit_code", 137}, {"error", memory}});
    EXPECT_EQ(killed.code, 137);
    EXPECT_FALSE(killed.error.has_value());
    EXPECT_EQ(end({{"status", "Canceled"}}).code, exit_code::cancelled);
    EXPECT_EQ(end({{"status", "Lost"}, {"exit_code", Json()}}).code, exit_code::lost);
    const RunEnd start_failure = end(
        {{"status", "Failed"},
         {"error",
          JsonObject{{"kind", "not_found"}, {"message", "no Python"}, {"hint", "Install it."}}}});
    EXPECT_EQ(start_failure.code, exit_code::run_failed);
    EXPECT_THAT(start_failure.error->message(), HasSubstr("no Python"));
    EXPECT_EQ(start_failure.error->hint(), "Install it.");
    // The script did well, the run did not: that must not look like success.
    EXPECT_EQ(end({{"status", "Failed"},
                   {"exit_code", 0},
                   {"error", JsonObject{{"message", "disk full"}}}})
                  .code,
              exit_code::run_failed);
}

}  // namespace
}  // namespace ponk::cli

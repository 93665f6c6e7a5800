// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/completion/completion.hpp"
#include "cli/syntax/help.hpp"
#include "cli/syntax/man.hpp"
#include "os/golden_test_support.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

namespace ponk::cli {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

void expect_golden(const std::string& name, const std::string& text)
{
    os::expect_golden(os::Path(PONK_SOURCE_DIR) / "tests/golden/cli" / name, text);
}

Invocation line(const std::vector<std::string>& words)
{
    auto parsed = parse(words);
    EXPECT_TRUE(parsed.has_value());
    return *parsed;
}

TEST(Help, reads_as_reviewed)
{
    expect_golden("help.txt", help_text(line({}), 80));
    expect_golden("help-experiment.txt", help_text(line({"experiment"}), 80));
    expect_golden("help-submit.txt", help_text(line({"submit", "--help"}), 80));
    expect_golden("help-attach.txt", help_text(line({"attach", "--help"}), 80));
    expect_golden("help-submit-narrow.txt", help_text(line({"submit", "--help"}), 50));
}

TEST(Help, names_the_keys_of_a_target)
{
    const auto text = help_text(line({"attach", "--help"}), 80);
    for (const auto* key : {"baseDockerImage",
                            "sharedVolumes",
                            "shmSize",
                            "nvidiaDocker",
                            "gpus",
                            "gpuGrace",
                            "shared",
                            "buildNetwork",
                            "scratch",
                            "nativeSharedDirectory",
                            "pythonLocation",
                            "userManagedEnvironment",
                            "privateKey"})
        EXPECT_THAT(text, HasSubstr(std::string("'") + key + "'"));
}

TEST(Help, fits_the_terminal_for_every_command)
{
    for (const Command* command : commands()) {
        Invocation words;
        words.command = command;
        bool examples = false;
        for (const std::string& row : split(help_text(words, 80), '\n')) {
            if (row == "Examples:") examples = true;  // a command line is never broken
            if (row == "Exit code:") examples = false;
            if (examples) continue;
            EXPECT_LE(display_width(row), 80U) << command->path << ": " << row;
        }
    }
}

TEST(Completion, scripts_are_as_reviewed)
{
    for (const std::string_view shell : {"bash", "zsh", "fish"}) {
        expect_golden("completion." + std::string(shell), completion_script(shell));
    }
}

MATCHER_P(has_word, word, "")
{
    for (const Candidate& one : arg) {
        if (one.word == word) return true;
    }
    return false;
}

TEST(Completion, offers_what_may_come_next)
{
    EXPECT_THAT(complete({""}), has_word("experiment"));
    EXPECT_THAT(complete({""}), has_word("submit"));
    EXPECT_THAT(complete({""}), testing::Not(has_word("__complete")));
    EXPECT_THAT(complete({"ml", "experiment", "su"}), has_word("submit"));
    EXPECT_THAT(complete({"project", "sample", ""}), has_word("list"));
    EXPECT_THAT(complete({"submit", "--asy"}), has_word("--async"));
    EXPECT_THAT(complete({"submit", "-"}), has_word("-c"));
    EXPECT_THAT(complete({"runs", "-o", "js"}), has_word("jsonc"));
    EXPECT_THAT(complete({"runs", "--output=js"}), has_word("--output=jsonc"));
    EXPECT_THAT(complete({"submit", "-c", ""}), has_word("local"));
    EXPECT_THAT(complete({"logs", "la"}), has_word("last"));
    EXPECT_THAT(complete({"submit", ""}), has_word(":file"));
    EXPECT_THAT(complete({"submit", "x.py", "--"}), has_word(":file"));
    EXPECT_THAT(complete({"completion", ""}), has_word("zsh"));
    EXPECT_TRUE(complete({"version", ""}).empty());
}

TEST(Man, every_page_has_its_parts_and_every_command_its_page)
{
    for (const std::string& name : man_page_names()) {
        const std::string page = man_page(name);
        EXPECT_TRUE(page.starts_with(".TH ")) << name;
        EXPECT_THAT(page, HasSubstr(".SH NAME\n")) << name;
        EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n")) << name;
    }
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no) continue;
        EXPECT_NE(man_page_of(command->path), "") << command->path;
    }
    EXPECT_EQ(man_page_of("submit"), "ponk-experiment");
    EXPECT_EQ(man_page_of("runconfig"), "ponk-runconfiguration");
    EXPECT_EQ(man_page_of("nonsense"), "");
}

}  // namespace
}  // namespace ponk::cli

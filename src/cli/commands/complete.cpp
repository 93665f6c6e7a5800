// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/completion/completion.hpp"

namespace ponk::cli {
namespace complete_command {

constexpr Positional positionals[] = {
    {.name = "WORDS", .help = "The command line so far.", .count = Positional::Count::many},
};

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> line = words.words();
    line.insert(line.end(), words.rest().begin(), words.rest().end());
    std::string text;
    for (const Candidate& candidate : complete(line, context.entry().samples)) {
        text += candidate.word;
        if (!candidate.says.empty()) text += "\t" + candidate.says;
        text += "\n";
    }
    TRY(Context::print_text(text));
    return exit_code::success;
}

}  // namespace complete_command

constinit const Command cmd_complete = {
    .path = "__complete",
    .summary = "Candidates for the last word of a command line",
    .positionals = complete_command::positionals,
    .rest = Command::Rest::untouched,
    .history = Command::History::none,
    .shown = Command::Shown::no,
    .run = complete_command::run,
};

}  // namespace ponk::cli

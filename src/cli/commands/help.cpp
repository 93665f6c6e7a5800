// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/help.hpp"

#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace help_command {

constexpr Positional positionals[] = {
    {.name = "COMMAND", .help = "A command or group.", .count = Positional::Count::many},
};

Outcome run(Context& /*context*/, const Invocation& words)
{
    const auto asked = parse(words.words());
    if (!asked) return tl::unexpected(failure_of_parse(asked.error()));
    TRY(Context::print_text(help_for_terminal(*asked)));
    return exit_code::success;
}

}  // namespace help_command

constinit const Command cmd_help = {
    .path = "help",
    .summary = "Show the help of a command",
    .positionals = help_command::positionals,
    .paged = Command::Paged::yes,
    .history = Command::History::none,
    .run = help_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/completion.hpp"

#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace completion_command {

constexpr std::string_view shells[] = {"bash", "zsh", "fish"};
constexpr Positional positionals[] = {
    {.name = "SHELL",
     .help = "bash, zsh or fish.",
     .complete = Complete::choice,
     .choices = shells},
};
constexpr std::string_view names[] = {"ponk", "az"};
constexpr Option options[] = {
    {.name = "for",
     .value = "NAME",
     .help = "The command to complete: ponk, or az if that name is a link to ponk.",
     .complete = Complete::choice,
     .choices = names},
};
constexpr Example examples[] = {
    {"source <(ponk completion bash)",
     "Enable completion in this shell. Add the line to ~/.bashrc to keep it."},
    {"ponk completion zsh > ~/.zfunc/_ponk", "Install it in a folder of $fpath."},
    {"ponk completion fish > ~/.config/fish/completions/ponk.fish", "Install it for fish."},
};

Outcome run(Context& /*context*/, const Invocation& words)
{
    const std::string name = words.value("for").value_or("ponk");
    TRY(Context::print_text(completion_script(*words.word(0), name)));
    return exit_code::success;
}

}  // namespace completion_command

constinit const Command cmd_completion = {
    .path = "completion",
    .summary = "Print the completion script for a shell",
    .description = "Completes commands, options, run ids, run configurations, targets and files.",
    .options = completion_command::options,
    .positionals = completion_command::positionals,
    .examples = completion_command::examples,
    .history = Command::History::none,
    .run = completion_command::run,
};

}  // namespace ponk::cli

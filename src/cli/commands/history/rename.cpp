// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_change.hpp"

namespace ponk::cli {
namespace history_rename_command {

constexpr Positional positionals[] = {
    common::one_run,
    {.name = "NAME", .help = "The new name."},
};
constexpr std::string_view aliases[] = {"rename"};
constexpr Example examples[] = {
    {"ponk rename last 'wider net'", "Name the newest run."},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = words.words()[1];
    if (trim(name).empty()) return fail_usage("the new name is empty");
    const Json changed = TRY(change_run(context, *words.word(0), {{"name", name}}));
    context.warn_of_run_name(name);
    return context.done(fmt::format("run {} is named '{}'",
                                    changed.text("run_id"),
                                    printable(changed.text("name"))),
                        {{"run_id", changed["run_id"]}, {"name", changed["name"]}});
}

}  // namespace history_rename_command

constinit const Command cmd_history_rename = {
    .path = "history rename",
    .aliases = history_rename_command::aliases,
    .summary = "Give a run another name",
    .positionals = history_rename_command::positionals,
    .examples = history_rename_command::examples,
    .run = history_rename_command::run,
};

}  // namespace ponk::cli

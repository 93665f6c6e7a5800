// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/named.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace computetarget_show_command {

constexpr Option options[] = {named::target_option};
constexpr Positional positionals[] = {named::target};

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const config::ComputeTarget target =
        TRY(config::load_target(project, TRY(named::name_of(words))));
    return context.print(config::meaning_of(target));
}

}  // namespace computetarget_show_command

constinit const Command cmd_computetarget_show = {
    .path = "computetarget show",
    .summary = "Show a compute target as ponk interprets it",
    .options = computetarget_show_command::options,
    .positionals = computetarget_show_command::positionals,
    .history = Command::History::none,
    .run = computetarget_show_command::run,
};

}  // namespace ponk::cli

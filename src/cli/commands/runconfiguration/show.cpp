// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/named.hpp"
#include "cli/runs/run_view.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace runconfiguration_show_command {

constexpr Option options[] = {named::configuration_option};
constexpr Positional positionals[] = {named::configuration};

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const config::RunConfiguration configuration =
        TRY(config::load_run_configuration(project, TRY(named::name_of(words))));
    Json meaning = config::meaning_of(configuration);
    // Whether the file says so itself: null leaves it to the target.
    const auto& own = configuration.user_managed_dependencies;
    meaning.as_object().set("managedEnvironment", own.given() ? Json(!*own) : Json());
    return context.print(meaning, {.rows = in_words(meaning)});
}

}  // namespace runconfiguration_show_command

constinit const Command cmd_runconfiguration_show = {
    .path = "runconfiguration show",
    .summary = "Show a run configuration as ponk interprets it",
    .options = runconfiguration_show_command::options,
    .positionals = runconfiguration_show_command::positionals,
    .history = Command::History::none,
    .run = runconfiguration_show_command::run,
};

}  // namespace ponk::cli

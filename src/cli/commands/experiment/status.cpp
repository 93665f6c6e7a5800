// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_view.hpp"

namespace ponk::cli {
namespace experiment_status_command {

constexpr Option options[] = {common::run_option, common::ignored_target};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk experiment status last", "Show the state of the newest run of this project."},
    {"ponk experiment status 4f1e --query status -o tsv", "Print only the state, for a script."},
};

Outcome run(Context& context, const Invocation& words)
{
    const Json record = TRY(context.run(TRY(run_name(words, "last"))));
    return context.print(record, view_of_run(record));
}

}  // namespace experiment_status_command

constinit const Command cmd_experiment_status = {
    .path = "experiment status",
    .summary = "Show the state of a run",
    .description = "Without RUN: the newest run of the project.",
    .options = experiment_status_command::options,
    .positionals = experiment_status_command::positionals,
    .examples = experiment_status_command::examples,
    .history = Command::History::any,
    .run = experiment_status_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/runs/run_view.hpp"

namespace ponk::cli {
namespace history_last_command {

constexpr Example examples[] = {
    {"ponk history last --query accuracy", "Print a metric of the newest run."},
};

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json record = TRY(context.run("last"));
    return context.print(record, view_of_run(record));
}

}  // namespace history_last_command

constinit const Command cmd_history_last = {
    .path = "history last",
    .summary = "Show the newest run of the project",
    .examples = history_last_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::any,
    .run = history_last_command::run,
};

}  // namespace ponk::cli

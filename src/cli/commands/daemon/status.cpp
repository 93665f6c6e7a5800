// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace daemon_status_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    const os::Path home = TRY(context.home());
    const auto found = TRY(Daemon::find(home));
    if (!found) {
        TRY(context.done("the daemon is not running; the next command that needs it starts it",
                         {{"running", false}, {"home", home.string()}}));
        return exit_code::unavailable;
    }
    JsonObject status{{"running", true}};
    if (found->about().is_object()) {
        for (const auto& [key, value] : found->about().as_object())
            status.set(key, value);
    }
    return context.print(Json(std::move(status)));
}

}  // namespace daemon_status_command

constinit const Command cmd_daemon_status = {
    .path = "daemon status",
    .summary = "Show whether the daemon is running, and its state",
    .exits = "0 if the daemon is running, 69 if it is not, 75 if it does not answer. This command "
             "never starts the daemon.",
    .run = daemon_status_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/client/daemon_start.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace daemon_stop_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    auto found = TRY(Daemon::find(TRY(context.home())));
    if (!found) return context.done("the daemon was not running", {{"stopped", false}});
    const auto pid = found->about().integer("pid");
    TRY(found->send(
        "POST", "/daemon/stop", JsonObject{{"reason", "requested by the user"}, {"unpin", true}}));
    TRY(wait_for_end(static_cast<pid_t>(pid), after(answer_limit)));
    return context.done(fmt::format("the daemon (process {}) has stopped; runs continue", pid),
                        {{"stopped", true}, {"pid", pid}});
}

}  // namespace daemon_stop_command

constinit const Command cmd_daemon_stop = {
    .path = "daemon stop",
    .summary = "Stop the daemon; runs continue",
    .description = "Each run has its own supervisor process and continues. The next command that "
                   "needs the daemon starts it again, and the daemon then catches up on the runs. "
                   "Until then, MLflow clients set up with 'ponk tracking env' cannot connect.",
    .exits = "0 if the daemon has stopped or was not running; 75 if it does not answer or does not "
             "stop: the message then has the command that ends it.",
    .run = daemon_stop_command::run,
};

}  // namespace ponk::cli

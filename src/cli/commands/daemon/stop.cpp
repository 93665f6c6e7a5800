// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/client/daemon_start.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace {

Outcome run(Context& context, const Invocation& /*words*/)
{
    auto found = TRY(Daemon::find(TRY(context.home())));
    if (!found) return context.done("the daemon was not running", {{"stopped", false}});
    const auto pid = found->about().integer("pid");
    TRY(found->send(
        "POST", "/daemon/stop", JsonObject{{"reason", "asked by the user"}, {"unpin", true}}));
    TRY(wait_for_end(static_cast<pid_t>(pid), after(answer_limit)));
    return context.done(fmt::format("the daemon (process {}) has ended; runs go on", pid),
                        {{"stopped", true}, {"pid", pid}});
}

}  // namespace

constinit const Command cmd_daemon_stop = {
    .path = "daemon stop",
    .summary = "End the daemon; runs go on",
    .description =
        "Runs belong to supervisors of their own. The next command that needs the daemon "
        "starts it again, and it takes up what happened meanwhile. MLflow clients that 'ponk "
        "tracking env' pointed to it find nobody until then.",
    .exits = "0 when it has ended or was not running; 75 when it does not answer or does not end, "
             "with the command that ends it.",
    .run = run,
};

}  // namespace ponk::cli

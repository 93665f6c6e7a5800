// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace {

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

}  // namespace

constinit const Command cmd_daemon_status = {
    .path = "daemon status",
    .summary = "Tell whether the daemon runs, and how it is",
    .exits = "0 when it runs, 69 when it does not, 75 when it does not answer. Never starts it.",
    .run = run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/daemon_start.hpp"

#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    {.name = "idle-exit", .value = "SECONDS", .help = "End after so long without work; 0: never."},
    {.name = "detached", .help = "As started by other commands.", .shown = Option::Shown::no},
    {.name = "ready-fd",
     .value = "FD",
     .help = "Descriptor that is told when the socket answers.",
     .shown = Option::Shown::no},
};
constexpr Example examples[] = {
    {"ponk daemon run", "In the foreground, say as a systemd user service."},
};

// Whatever our starter's parents left open must not be held open for days.
void close_strangers(int keep)
{
    const auto first = static_cast<unsigned>(keep + 1);
    ::syscall(SYS_close_range, first, ~0U, 0);
    if (keep > 3) ::syscall(SYS_close_range, 3U, static_cast<unsigned>(keep - 1), 0);
}

Outcome run(Context& context, const Invocation& words)
{
    DaemonOptions daemon;
    daemon.home = TRY(context.home());
    if (const auto text = words.value("ready-fd")) {
        const auto number = parse_integer(*text);
        if (!number || *number < 3 || *number > 1023) return fail_usage("'--ready-fd {}'", *text);
        daemon.ready = static_cast<int>(*number);
    }
    if (const auto text = words.value("idle-exit")) {
        const auto number = parse_integer(*text);
        if (!number || *number < 0 || *number > 1'000'000'000)
            return fail_usage("'--idle-exit {}'", *text);
        daemon.idle_exit_seconds = static_cast<int>(*number);
    }
    if (words.has("detached")) {
        daemon.mode = DaemonOptions::Mode::detached;
        close_strangers(daemon.ready.value_or(2));
    }
    TRY(make_home(daemon.home));
    if (context.entry().run_daemon == nullptr) {
        return fail_with(exit_code::not_built, ErrorKind::internal, "this program has no daemon");
    }
    return context.entry().run_daemon(daemon);
}

}  // namespace

constinit const Command cmd_daemon_run = {
    .path = "daemon run",
    .summary = "Be the daemon, in the foreground",
    .description = "Other commands start the daemon by themselves; this is for service managers.",
    .options = options,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/be_daemon.hpp"
#include "cli/client/context.hpp"
#include "cli/client/daemon_start.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::cli {
namespace daemon_run_command {

constexpr Option options[] = {
    {.name = "idle-exit",
     .value = "SECONDS",
     .help = "Stop after this time without work; 0: never."},
    common::sync,
    {.name = "detached",
     .help = "Set by other commands when they start the daemon.",
     .shown = Option::Shown::no},
    {.name = "look",
     .help = "Only tell whether the daemon could serve this folder.",
     .shown = Option::Shown::no},
    {.name = "ready-fd",
     .value = "FD",
     .help = "File descriptor to notify when the socket is ready, or when the start failed.",
     .shown = Option::Shown::no},
};
constexpr Example examples[] = {
    {"ponk daemon run", "Run it in the foreground, for example as a systemd user service."},
};

// Whatever our starter's parents left open must not be held open for days.
void close_strangers(int keep)
{
    const auto first = static_cast<unsigned>(keep + 1);
    ::syscall(SYS_close_range, first, ~0U, 0);
    if (keep > 3) ::syscall(SYS_close_range, 3U, static_cast<unsigned>(keep - 1), 0);
}

tl::expected<os::Fd, Failure> ready_descriptor(const Invocation& words)
{
    const auto text = words.value("ready-fd");
    if (!text) return os::Fd();
    const auto number = parse_integer(*text);
    if (!number || *number < 3 || *number > 1023 ||
        ::fcntl(static_cast<int>(*number), F_SETFD, FD_CLOEXEC) != 0) {
        return fail_usage("'--ready-fd {}' is not an open file descriptor", *text);
    }
    return os::Fd(static_cast<int>(*number));
}

Outcome run(Context& context, const Invocation& words)
{
    DaemonOptions daemon;
    daemon.home = TRY(context.home());
    os::Fd ready = TRY(ready_descriptor(words));
    if (const auto text = words.value("idle-exit")) {
        const auto number = parse_integer(*text);
        if (!number || *number < 0 || *number > 1'000'000'000)
            return fail_usage("'--idle-exit {}' is not a number of seconds", *text);
        daemon.idle_exit_seconds = static_cast<int>(*number);
    }
    daemon.sync = words.text("sync");
    daemon.only_look = words.has("look");
    if (words.has("detached")) {
        close_strangers(ready ? ready.get() : 2);
        // Started through /proc/self/exe, it would be "exe" in a process list.
        ::prctl(PR_SET_NAME, "ponk");
    }
    daemon.on_ready = [&ready](const std::vector<std::string>&) {
        if (ready) static_cast<void>(os::write_all(ready.get(), daemon_is_ready));
        ready.reset();
    };
    const auto served = be_daemon(context.entry(), daemon);
    if (served) return exit_code::success;
    if (ready) {
        // Left open until we end, so that our starter goes on when all is in the log.
        static_cast<void>(os::write_all(ready.release(), failure_for_starter(served.error())));
    }
    return tl::unexpected(Failure(served.error()));
}

}  // namespace daemon_run_command

constinit const Command cmd_daemon_run = {
    .path = "daemon run",
    .summary = "Run the daemon in the foreground",
    .description =
        "Other commands start the daemon automatically. This command is for service managers.",
    .options = daemon_run_command::options,
    .examples = daemon_run_command::examples,
    .history = Command::History::none,
    .run = daemon_run_command::run,
};

}  // namespace ponk::cli

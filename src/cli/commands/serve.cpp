// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/be_daemon.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"

#include <filesystem>

namespace ponk::cli {
namespace serve_command {

constexpr auto hidden = Option::Shown::no;
constexpr std::string_view ignored_help = "Accepted as 'mlflow server' has it, and ignored.";

constexpr Option options[] = {
    {.name = "host", .value = "ADDRESS", .help = "Where to listen. Default: 127.0.0.1."},
    {.name = "port", .value = "PORT", .help = "Default: 5000; 0: any that is free."},
    {.name = "tls-cert",
     .value = "FILE",
     .help = "Certificate and chain, PEM. A renewed file is used for new connections.",
     .complete = Complete::file},
    {.name = "tls-key",
     .value = "FILE",
     .help = "The certificate's key, PEM.",
     .complete = Complete::file},
    {.name = "insecure",
     .help = "Listen without TLS even where other machines reach it: tokens and data can be read "
             "on the way."},
    common::sync,
    {.name = "backend-store-uri", .value = "URI", .help = ignored_help, .shown = hidden},
    {.name = "registry-store-uri", .value = "URI", .help = ignored_help, .shown = hidden},
    {.name = "default-artifact-root", .value = "URI", .help = ignored_help, .shown = hidden},
    {.name = "artifacts-destination", .value = "URI", .help = ignored_help, .shown = hidden},
    {.name = "serve-artifacts", .help = ignored_help, .shown = hidden},
    {.name = "no-serve-artifacts", .help = ignored_help, .shown = hidden},
    {.name = "artifacts-only", .help = ignored_help, .shown = hidden},
    {.name = "static-prefix", .value = "PREFIX", .help = ignored_help, .shown = hidden},
    {.name = "workers", .value = "N", .help = ignored_help, .shown = hidden},
    {.name = "gunicorn-opts", .value = "TEXT", .help = ignored_help, .shown = hidden},
    {.name = "uvicorn-opts", .value = "TEXT", .help = ignored_help, .shown = hidden},
    {.name = "dev", .help = ignored_help, .shown = hidden},
};
constexpr Example examples[] = {
    {"ponk serve --host 0.0.0.0 --port 5000 --tls-cert server.pem --tls-key server.key",
     "A tracking server for a team."},
    {"ponk token create --name ann --role write", "The token that a member of it uses."},
};

void note_ignored(const Context& context, const Invocation& words)
{
    for (const Option& option : options) {
        if (option.help == ignored_help && words.has(option.name))
            context.note("'--{}' means nothing here and is ignored: everything is in one history",
                         option.name);
    }
}

tl::expected<ServedAddress, Failure> address_of(const Invocation& words)
{
    ServedAddress address;
    address.host = words.value("host").value_or("127.0.0.1");
    const auto text = words.value("port").value_or("5000");
    const auto port = parse_integer(text);
    if (!port || *port < 0 || *port > 65535)
        return fail_usage("'--port {}' is not a port", printable(text));
    address.port = static_cast<std::uint16_t>(*port);
    if (words.has("tls-cert") != words.has("tls-key"))
        return fail_usage("'--tls-cert' and '--tls-key' belong together");
    if (words.has("tls-cert")) {
        std::error_code problem;
        address.certificate = std::filesystem::absolute(words.text("tls-cert"), problem);
        address.key = std::filesystem::absolute(words.text("tls-key"), problem);
        if (problem) return fail_usage("the current folder is gone");
    }
    address.insecure = words.has("insecure");
    return address;
}

Outcome run(Context& context, const Invocation& words)
{
    DaemonOptions daemon;
    daemon.home = TRY(context.home());
    daemon.serve = TRY(address_of(words));
    daemon.idle_exit_seconds = 0;
    daemon.sync = words.text("sync");
    note_ignored(context, words);
    // Before the daemon that runs is ended for it.
    if (const auto check = context.entry().check_serve; check != nullptr) TRY(check(*daemon.serve));
    const bool replaces = TRY(Daemon::find(daemon.home)).has_value();
    os::Fd lock = TRY(Daemon::take_place(daemon.home));
    daemon.on_ready = [&context, &lock](const std::vector<std::string>& addresses) {
        lock.reset();
        for (const auto& address : addresses)
            context.note("serves {}", address);
        context.note("'ponk token create --name NAME --role write' makes a token for "
                     "MLFLOW_TRACKING_TOKEN; Ctrl-C ends the server, runs go on");
    };
    const auto served = be_daemon(context.entry(), daemon);
    if (served) return exit_code::success;
    // It did not come to serving, and clients of the one before wait for somebody.
    if (replaces && lock) {
        lock.reset();
        static_cast<void>(Daemon::reach(daemon.home));
    }
    return tl::unexpected(Failure(served.error()));
}

}  // namespace serve_command

constinit const Command cmd_serve = {
    .path = "serve",
    .summary = "Serve the history to MLflow clients on an address of choice",
    .description =
        "It is the daemon itself, in the foreground, with one more address: a daemon that runs "
        "makes room for it, and all commands go on working. Clients need tokens. An address that "
        "other machines reach needs TLS.",
    .options = serve_command::options,
    .examples = serve_command::examples,
    .run = serve_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace {

constexpr Example examples[] = {
    {"eval \"$(ponk tracking env)\"", "From now on MLflow clients in this shell log here."},
    {"ponk tracking env -o json", "The same for programs."},
    {"eval \"$(ponk tracking env --plain)\"", "For a client that cannot be given a certificate."},
};

constexpr Option options[] = {
    {.name = "plain",
     .help =
         "HTTP without TLS, for clients that cannot be given a certificate. While the daemon is "
         "down, another user of this machine who takes its port is sent the token then."},
};

struct Variable {
    const char* name;
    std::string value;
};

Result<std::vector<Variable>> variables_of(const Json& answer, bool plain)
{
    const auto uri = answer.text(plain ? "plain_uri" : "tracking_uri");
    if (uri.empty()) {
        return tl::unexpected(Error(ErrorKind::unavailable,
                                    "the daemon has no certificate for its port, so clients could "
                                    "not tell it from others",
                                    "'daemon.log' in ponk's folder says why; '--plain' does "
                                    "without."));
    }
    std::vector<Variable> variables{{"MLFLOW_TRACKING_URI", uri},
                                    {"MLFLOW_TRACKING_TOKEN", answer.text("token")}};
    if (!plain)
        variables.push_back({"MLFLOW_TRACKING_SERVER_CERT_PATH", answer.text("certificate")});
    return variables;
}

Outcome print_variables(Context& context, const Invocation& words)
{
    const Json answer =
        TRY(TRY(context.daemon())
                ->send("POST", "/daemon/pin", JsonObject{}, Daemon::Repeat::when_broken));
    const auto variables = TRY(variables_of(answer, words.has("plain")));
    // In a pipe, too, it is meant for a shell.
    if (context.asked_format() || context.has_query()) {
        JsonObject all;
        for (const auto& [name, value] : variables)
            all.append(name, value);
        return context.print(std::move(all));
    }
    // One that an earlier call gave would be asked for on a plain connection's behalf, too.
    std::string text =
        words.has("plain") ? "unset MLFLOW_TRACKING_SERVER_CERT_PATH\n" : std::string();
    for (const auto& [name, value] : variables)
        text += fmt::format("export {}={}\n", name, shell_word(value));
    TRY(Context::print_text(text));
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    auto outcome = print_variables(context, words);
    // A shell that evaluates nothing at all would take it for success.
    if (!outcome && !context.asked_format() && !context.has_query())
        static_cast<void>(Context::print_text("false\n"));
    return outcome;
}

}  // namespace

constinit const Command cmd_tracking_env = {
    .path = "tracking env",
    .summary = "Print the variables that point MLflow clients at this history",
    .description =
        "Clients outside of runs, say notebooks; runs have them already. From then on the daemon "
        "stays until 'ponk daemon stop', because such clients cannot start it. Its address is on "
        "this machine's loopback and stays the same; the token is for this user and is kept in a "
        "file of ponk's own folder. So is the daemon's certificate: clients that are given it send "
        "the token to this daemon and to nobody else who may have its port. Programs other than "
        "MLflow's may need it by another name: 'curl --cacert', CURL_CA_BUNDLE, "
        "NODE_EXTRA_CA_CERTS.",
    .options = options,
    .examples = examples,
    .exits = "When it fails it prints 'false', so that the shell's eval fails, too.",
    .run = run,
};

}  // namespace ponk::cli

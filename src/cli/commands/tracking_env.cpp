// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace tracking_env_command {

constexpr Example examples[] = {
    {"eval \"$(ponk tracking env)\"", "Make MLflow clients in this shell use ponk."},
    {"ponk tracking env -o json", "Print the variables as JSON."},
    {"eval \"$(ponk tracking env --plain)\"", "For a client that cannot use a certificate."},
};

constexpr Option options[] = {
    {.name = "plain",
     .help =
         "Use HTTP without TLS, for clients that cannot use a certificate. Risk: while the daemon "
         "is down, another user of this machine can take its port and receive the token."},
};

struct Variable {
    const char* name;
    std::string value;
};

Result<std::vector<Variable>> variables_of(const Json& answer, bool plain)
{
    const auto uri = answer.text(plain ? "plain_uri" : "tracking_uri");
    if (uri.empty()) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "the daemon has no certificate, so clients could not verify it",
                  "See 'daemon.log' in ponk's folder for the reason, or use '--plain'."));
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

}  // namespace tracking_env_command

constinit const Command cmd_tracking_env = {
    .path = "tracking env",
    .summary = "Print the environment variables for MLflow clients",
    .description =
        "For MLflow clients outside of runs, such as notebooks; runs have these variables already. "
        "From now on the daemon keeps running until 'ponk daemon stop', because such clients "
        "cannot start it. Its address is on the loopback interface and does not change. The token "
        "is valid for this user and is stored in ponk's folder, as is the daemon's certificate: "
        "clients that use the certificate send the token only to this daemon, even if another "
        "program takes its port. Other programs may need the certificate in another way: 'curl "
        "--cacert', CURL_CA_BUNDLE, NODE_EXTRA_CA_CERTS.",
    .options = tracking_env_command::options,
    .examples = tracking_env_command::examples,
    .exits = "On failure the command prints 'false', so that the shell's eval fails too.",
    .run = tracking_env_command::run,
};

}  // namespace ponk::cli

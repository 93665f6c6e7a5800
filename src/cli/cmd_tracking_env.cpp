// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"

namespace ponk::cli {
namespace {

constexpr Example examples[] = {
    {"eval \"$(ponk tracking env)\"", "From now on MLflow clients in this shell log here."},
    {"ponk tracking env -o json", "The same for programs."},
};

Outcome print_variables(Context& context)
{
    const Json answer =
        TRY(TRY(context.daemon())
                ->send("POST", "/daemon/pin", JsonObject{}, Daemon::Repeat::when_broken));
    const auto uri = answer.text("tracking_uri");
    const auto token = answer.text("token");
    // In a pipe, too, it is meant for a shell.
    if (context.asked_format() || context.has_query()) {
        return context.print(
            JsonObject{{"MLFLOW_TRACKING_URI", uri}, {"MLFLOW_TRACKING_TOKEN", token}});
    }
    TRY(Context::print_text(
        fmt::format("export MLFLOW_TRACKING_URI={}\nexport MLFLOW_TRACKING_TOKEN={}\n",
                    shell_word(uri),
                    shell_word(token))));
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& /*words*/)
{
    auto outcome = print_variables(context);
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
        "file of ponk's own folder.",
    .examples = examples,
    .exits = "When it fails it prints 'false', so that the shell's eval fails, too.",
    .run = run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/ask.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace {

constexpr Positional positionals[] = {
    {.name = "NAME", .help = "Name of the secret.", .complete = Complete::secret},
};
constexpr Example examples[] = {
    {"ponk secret set kaggle", "Asks for the value, without echo."},
    {"pass show kaggle | ponk secret set kaggle", "Reads it from standard input."},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = *words.word(0);
    const std::string value = TRY(read_secret(fmt::format("Value of secret '{}'", name)));
    if (value.empty()) {
        return fail_with(exit_code::invalid,
                         ErrorKind::invalid_argument,
                         "the value is empty, nothing was stored");
    }
    const Json answer = TRY(TRY(context.daemon())
                                ->send("PUT",
                                       "/secrets/" + net::percent_encode(name),
                                       JsonObject{{"value", value}},
                                       Daemon::Repeat::when_broken));
    return context.done(fmt::format("secret '{}' is stored ({})", name, answer.text("where")),
                        {{"name", name}, {"where", answer.text("where")}});
}

}  // namespace

constinit const Command cmd_secret_set = {
    .path = "secret set",
    .summary = "Store a secret for runs",
    .description =
        "Runs refer to it by name, as 'secret:NAME' in EnvironmentVariables or --env. The "
        "value is never an argument, so that no process list shows it.",
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

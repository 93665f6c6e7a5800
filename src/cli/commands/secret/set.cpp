// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/terminal/ask.hpp"
#include "config/consents/consents.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace secret_set_command {

constexpr Positional positionals[] = {
    {.name = "NAME", .help = "Name of the secret.", .complete = Complete::secret},
};
constexpr Option options[] = {
    {.name = "any-project", .help = "Allow every project to use it, not only this one."},
};
constexpr Example examples[] = {
    {"ponk secret set kaggle", "Ask for the value, without echo."},
    {"pass show kaggle | ponk secret set kaggle", "Read the value from standard input."},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = *words.word(0);
    const std::string value = TRY(read_secret(fmt::format("Value of secret '{}'", name)));
    if (value.empty()) {
        return fail_with(exit_code::invalid,
                         ErrorKind::invalid_argument,
                         "the value is empty: nothing was stored");
    }
    const std::string project = words.has("any-project")
                                    ? config::Consent::every_project
                                    : config::project_name_in_consents(TRY(context.project()));
    const Json answer = TRY(TRY(context.daemon())
                                ->send("PUT",
                                       "/secrets/" + net::percent_encode(name),
                                       JsonObject{{"value", value}, {"project", project}},
                                       Daemon::Repeat::when_broken));
    if (!answer.boolean("masked"))
        context.note(
            "the value is too short to be hidden: logs, metrics and names of files show it");
    return context.done(fmt::format("secret '{}' is stored ({}); {} may use it",
                                    name,
                                    answer.text("where"),
                                    words.has("any-project") ? "every project"
                                                             : "project " + os::in_quotes(project)),
                        {{"name", name}, {"where", answer.text("where")}, {"project", project}});
}

}  // namespace secret_set_command

constinit const Command cmd_secret_set = {
    .path = "secret set",
    .summary = "Store a secret for runs",
    .description = "Runs use it by name, as 'secret:NAME' in EnvironmentVariables or --env. The "
                   "value is never an argument, so it does not appear in process lists. Only the "
                   "project of this folder may use it. If another project's files name the secret, "
                   "ponk asks first; 'ponk allow secret NAME' in that project allows it.",
    .options = secret_set_command::options,
    .positionals = secret_set_command::positionals,
    .examples = secret_set_command::examples,
    .run = secret_set_command::run,
};

}  // namespace ponk::cli

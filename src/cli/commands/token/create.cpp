// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace token_create_command {

constexpr std::string_view roles[] = {"read", "write", "promote", "administer"};
constexpr Option options[] = {
    {.name = "name", .value = "NAME", .help = "Name of the token."},
    {.name = "role",
     .value = "ROLE",
     .help = "read: look at everything; write: log runs and register models, too; promote: also "
             "move aliases and stages of registered models, rename and delete them; administer: "
             "everything, also start programs. Default: write.",
     .complete = Complete::choice,
     .choices = roles},
    {.name = "days",
     .value = "N",
     .help = "Number of days the token is valid. Default: until revoked."},
};
constexpr Example examples[] = {
    {"ponk token create --name ci --role write --days 30",
     "Print the token. It is shown only once."},
};

constexpr std::int64_t day = 86'400'000;

Outcome run(Context& context, const Invocation& words)
{
    if (!words.has("name")) {
        return tl::unexpected(
            Failure(Error(ErrorKind::invalid_argument,
                          "'--name NAME' is needed: what lists and the audit log call the token",
                          "For example: 'ponk token create --name ann --role write'."),
                    exit_code::usage));
    }
    JsonObject request{{"name", words.text("name")},
                       {"role", words.value("role").value_or("write")}};
    if (const auto text = words.value("days")) {
        const auto days = parse_integer(*text);
        if (!days || *days < 1 || *days > 36'500)
            return fail_usage("'--days {}' is not a number of days", printable(*text));
        request.set("expires", utc_text(wall_milliseconds() + *days * day));
    }
    const Json made = TRY(TRY(context.daemon())->send("POST", "/tokens", request));
    if (context.format() == output::Format::table) {
        context.note("this is the only time that the token is shown");
        TRY(Context::print_text(made.text("token") + "\n"));
        return exit_code::success;
    }
    return context.print(made);
}

}  // namespace token_create_command

constinit const Command cmd_token_create = {
    .path = "token create",
    .summary = "Create a token for clients of the tracking server",
    .description = "Clients send it as 'Authorization: Bearer TOKEN', or as the password of any "
                   "user; for MLflow, MLFLOW_TRACKING_TOKEN. Only its SHA-256 is stored.",
    .options = token_create_command::options,
    .examples = token_create_command::examples,
    .run = token_create_command::run,
};

}  // namespace ponk::cli

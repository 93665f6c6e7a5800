// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace token_list_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json answer = TRY(TRY(context.daemon())->get("/tokens"));
    const Json tokens = answer["tokens"].is_array() ? answer["tokens"] : Json(JsonArray{});
    if (tokens.as_array().empty() && context.format() == output::Format::table)
        context.note("no tokens yet: ponk token create --name NAME");
    return context.print(tokens);
}

}  // namespace token_list_command

constinit const Command cmd_token_list = {
    .path = "token list",
    .summary = "List tokens by name, never the tokens themselves",
    .description = "'local' is the token that 'ponk tracking env' prints.",
    .run = token_list_command::run,
};

}  // namespace ponk::cli

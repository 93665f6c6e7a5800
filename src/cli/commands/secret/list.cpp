// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace secret_list_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json answer = TRY(TRY(context.daemon())->get("/secrets"));
    const Json secrets = answer["secrets"].is_array() ? answer["secrets"] : Json(JsonArray{});
    if (secrets.as_array().empty() && context.format() == output::Format::table)
        context.note("no secrets yet: ponk secret set NAME");
    return context.print(secrets);
}

}  // namespace secret_list_command

constinit const Command cmd_secret_list = {
    .path = "secret list",
    .summary = "List the names of stored secrets, never their values",
    .run = secret_list_command::run,
};

}  // namespace ponk::cli

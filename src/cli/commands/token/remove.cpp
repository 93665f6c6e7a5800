// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace token_remove_command {

constexpr Positional positionals[] = {
    {.name = "NAME", .help = "Name of the token."},
};

constexpr Option options[] = {common::needless_yes};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = *words.word(0);
    const auto removed =
        TRY(context.daemon())->send("DELETE", "/tokens/" + net::percent_encode(name));
    if (!removed && removed.error().kind() == ErrorKind::not_found) {
        return tl::unexpected(
            Failure(removed.error().with_hint("'ponk token list' lists the tokens.")));
    }
    if (!removed) return tl::unexpected(Failure(removed.error()));
    return context.done(fmt::format("token '{}' is revoked: clients can no longer use it", name),
                        {{"deleted", name}});
}

}  // namespace token_remove_command

constinit const Command cmd_token_remove = {
    .path = "token remove",
    .summary = "Revoke a token",
    .description = "After 'local' is revoked, the next 'ponk tracking env' creates a new one.",
    .options = token_remove_command::options,
    .positionals = token_remove_command::positionals,
    .run = token_remove_command::run,
};

}  // namespace ponk::cli

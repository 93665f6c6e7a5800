// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace {

constexpr Positional positionals[] = {
    {.name = "NAME", .help = "Name of the secret.", .complete = Complete::secret},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = *words.word(0);
    TRY(TRY(context.daemon())->send("DELETE", "/secrets/" + net::percent_encode(name)));
    return context.done(fmt::format("secret '{}' is removed", name), {{"deleted", name}});
}

}  // namespace

constinit const Command cmd_secret_remove = {
    .path = "secret remove",
    .summary = "Remove a stored secret",
    .positionals = positionals,
    .run = run,
};

}  // namespace ponk::cli

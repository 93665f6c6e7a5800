// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace session_remove_command {

constexpr Positional positionals[] = {
    {.name = "ID", .help = "The session's id."},
};

constexpr Option options[] = {common::needless_yes};

Outcome run(Context& context, const Invocation& words)
{
    const std::string id = *words.word(0);
    const auto removed =
        TRY(context.daemon())->send("DELETE", "/ui/sessions/" + net::percent_encode(id));
    if (!removed && removed.error().kind() == ErrorKind::not_found) {
        return tl::unexpected(
            Failure(removed.error().with_hint("'ponk session list' lists the sessions.")));
    }
    if (!removed) return tl::unexpected(Failure(removed.error()));
    return context.done(fmt::format("session '{}' is ended: its page has to log in again", id),
                        {{"deleted", id}});
}

}  // namespace session_remove_command

constinit const Command cmd_session_remove = {
    .path = "session remove",
    .summary = "End a session of the page",
    .description = "A session that was made with a token also ends with that token.",
    .options = session_remove_command::options,
    .positionals = session_remove_command::positionals,
    .run = session_remove_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/syntax/suggest.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace secret_remove_command {

constexpr Positional positionals[] = {
    {.name = "NAME", .help = "Name of the secret.", .complete = Complete::secret},
};

constexpr Option options[] = {
    {.name = "purge",
     .help =
         "Also delete all earlier values of the secret. Logs of earlier runs will then show them."},
    common::needless_yes,
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = *words.word(0);
    const std::string path =
        "/secrets/" + net::percent_encode(name) + (words.has("purge") ? "?purge=1" : "");
    Daemon* daemon = TRY(context.daemon());
    const auto removed = daemon->send("DELETE", path);
    if (!removed && removed.error().kind() == ErrorKind::not_found) {
        std::vector<std::string> names;
        const Json stored = TRY(daemon->get("/secrets"));
        if (stored["secrets"].is_array()) {
            for (const Json& secret : stored["secrets"].as_array())
                names.push_back(secret.text("name"));
        }
        return tl::unexpected(
            Failure(Error(ErrorKind::not_found,
                          fmt::format("there is no secret '{}'", printable(name)),
                          suggest_name(name, names, "'ponk secret list' lists the secrets."))));
    }
    if (!removed) return tl::unexpected(Failure(removed.error()));
    return context.done(fmt::format("secret '{}' is removed", name), {{"deleted", name}});
}

}  // namespace secret_remove_command

constinit const Command cmd_secret_remove = {
    .path = "secret remove",
    .summary = "Remove a stored secret",
    .description = "Runs can no longer use it. Its values are still kept, so that ponk can hide "
                   "them in logs of earlier runs.",
    .options = secret_remove_command::options,
    .positionals = secret_remove_command::positionals,
    .run = secret_remove_command::run,
};

}  // namespace ponk::cli

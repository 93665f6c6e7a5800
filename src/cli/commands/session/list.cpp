// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

namespace ponk::cli {
namespace session_list_command {

Outcome run(Context& context, const Invocation& /*words*/)
{
    const Json answer = TRY(TRY(context.daemon())->get("/ui/sessions"));
    const Json sessions = answer["sessions"].is_array() ? answer["sessions"] : Json(JsonArray{});
    if (sessions.as_array().empty() && context.format() == output::Format::table)
        context.note("no sessions yet: 'ponk ui' opens the page");
    JsonArray rows;
    for (const auto& session : sessions.as_array()) {
        rows.emplace_back(JsonObject{{"id", session.text("id")},
                                     {"role", session.text("role")},
                                     {"token", session.text("token", "(owner)")},
                                     {"created", session["created"]},
                                     {"last_used", session["last_used"]},
                                     {"peer", session.text("peer")},
                                     {"browser", session.text("agent")}});
    }
    return context.print(sessions, {.rows = std::move(rows)});
}

}  // namespace session_list_command

constinit const Command cmd_session_list = {
    .path = "session list",
    .summary = "List the browsers in which the page is logged in",
    .description = "'last_used' is known since the daemon was started.",
    .run = session_list_command::run,
};

}  // namespace ponk::cli

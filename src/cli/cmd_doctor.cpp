// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"

#include <chrono>

namespace ponk::cli {
namespace {

Outcome run(Context& context, const Invocation& /*words*/)
{
    JsonArray checks;
    bool errors = false;
    const auto server = context.daemon();
    const auto answer = server ? (*server)->get("/doctor", std::chrono::seconds(60))
                               : Result<Json>(tl::unexpected(server.error()));
    if (!answer) {
        checks.push_back(JsonObject{{"name", "daemon"},
                                    {"status", "error"},
                                    {"message", answer.error().message()},
                                    {"hint", answer.error().hint()}});
    } else if ((*answer)["checks"].is_array()) {
        checks = (*answer)["checks"].as_array();
    }
    for (const Json& check : checks)
        errors = errors || check.text("status") == "error";
    // Name and text, which is wrapped where it is long: hints are no use when cut.
    JsonObject rows;
    for (const Json& check : checks) {
        std::string text = check.text("status") + ": " + check.text("message");
        if (!check.text("hint").empty()) text += "\n" + check.text("hint");
        rows.append(check.text("name"), text);
    }
    View view;
    if (context.format() == output::Format::table) view.rows = std::move(rows);
    TRY(context.print(Json(std::move(checks)), view));
    return errors ? exit_code::invalid : exit_code::success;
}

}  // namespace

constinit const Command cmd_doctor = {
    .path = "doctor",
    .summary = "Look at this machine: what works and what would not",
    .exits = "0 when no check found an error, 65 otherwise.",
    .run = run,
};

}  // namespace ponk::cli

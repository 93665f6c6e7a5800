// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/doctor/doctor_checks.hpp"

#include <algorithm>
#include <chrono>

namespace ponk::cli {
namespace doctor_command {

// Of a whole database, however large.
constexpr std::chrono::hours longest_check(24);

constexpr Option options[] = {
    {.name = "full",
     .help =
         "Also read the whole database: every page, row and index. Takes minutes if it is large."},
};
constexpr Example examples[] = {
    {"ponk doctor", "Find out what does not work here."},
    {"ponk doctor -o json --query \"[?status != 'ok']\"", "Show only warnings and failures."},
};

JsonArray check_daemon(Context& context, bool full)
{
    const auto server = context.daemon();
    const std::string path = full ? "/doctor?full=1" : "/doctor";
    const auto patience = full ? longest_check : std::chrono::minutes(1);
    const auto answer =
        server ? (*server)->get(path, patience) : Result<Json>(tl::unexpected(server.error()));
    if (!answer) {
        return {check_result("daemon", "fail", answer.error().message(), answer.error().hint())};
    }
    const Json& about = (*server)->about();
    JsonArray checks{check_result("daemon",
                                  "ok",
                                  fmt::format("process {}, version {}, socket '{}'",
                                              about.integer("pid"),
                                              about.text("version"),
                                              printable(about.text("socket"))))};
    if ((*answer)["checks"].is_array()) {
        for (const Json& check : (*answer)["checks"].as_array())
            checks.push_back(check);
    }
    return checks;
}

// What is long is wrapped: hints are no use when cut.
Json rows_of(const JsonArray& checks)
{
    JsonObject rows;
    for (const Json& check : checks) {
        std::string text = check.text("message");
        if (!check.text("hint").empty()) text += "\n" + check.text("hint");
        rows.append(fmt::format("{:<4}  {}", check.text("status"), check.text("name")), text);
    }
    return rows;
}

Outcome run(Context& context, const Invocation& words)
{
    JsonArray checks;
    const auto home = TRY(context.home());
    const auto project = TRY(context.project());
    for (const JsonArray& some : {check_home(home),
                                  check_daemon(context, words.has("full")),
                                  check_programs(),
                                  check_project(project),
                                  check_gpus(context),
                                  check_targets(context)}) {
        checks.insert(checks.end(), some.begin(), some.end());
    }
    const auto is = [](std::string_view status) {
        return [status](const Json& check) { return check.text("status") == status; };
    };
    const auto failed = std::ranges::count_if(checks, is("fail"));
    const auto warned = std::ranges::count_if(checks, is("warn"));
    View view;
    view.rows = rows_of(checks);
    TRY(context.print(Json(std::move(checks)), view));
    if (context.format() == output::Format::table && !context.has_query()) {
        context.note("{} error{}, {} warning{}",
                     failed,
                     failed == 1 ? "" : "s",
                     warned,
                     warned == 1 ? "" : "s");
    }
    return failed > 0 ? exit_code::invalid : exit_code::success;
}

}  // namespace doctor_command

constinit const Command cmd_doctor = {
    .path = "doctor",
    .summary = "Check this machine and the project's targets",
    .description =
        "Checks ponk's folder and daemon, the disk, the database, limits, the store of secrets, "
        "git, the Python of the target 'local' (version, pip, venv, NumPy), the GPUs and their "
        "driver, and each run configuration and target of the project. Machines that you attached "
        "are contacted over SSH as the daemon does it. No program that comes from the project or "
        "is named in its files is started. Each line is ok, warn or fail; a line that is not ok "
        "has a hint with the next step. Nothing is changed, except that the daemon is started.",
    .options = doctor_command::options,
    .examples = doctor_command::examples,
    .exits = "0 if no check failed, 65 otherwise.",
    .run = doctor_command::run,
};

}  // namespace ponk::cli

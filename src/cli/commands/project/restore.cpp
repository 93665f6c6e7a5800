// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/client/own_umask.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/runs/travel_note.hpp"

#include <chrono>

namespace ponk::cli {
namespace project_restore_command {

constexpr Option options[] = {
    common::run_option,
    {.name = "run-id",
     .value = "RUN",
     .help = "Same as --run.",
     .complete = Complete::run,
     .shown = Option::Shown::no},
    {.name = "destination",
     .brief = "d",
     .value = "FOLDER",
     .help = "New or empty folder. Default: PROJECT-RUN in the current folder, or next to the "
             "project if you are in its folder.",
     .complete = Complete::folder},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk project restore 4f1e -d ../as-it-was", "Restore the files as that run saw them."},
};

// Beside the project and not in it, where the next run's snapshot would hold the copy.
std::string default_folder(const Json& record)
{
    std::error_code problem;
    const os::Path project = record.text("project_path");
    const std::string base = project.filename().string();
    const os::Path name = (base.empty() ? "project" : base) + "-" + brief_id(record);
    const os::Path way =
        std::filesystem::current_path(problem).lexically_relative(project.lexically_normal());
    const bool inside = !way.empty() && *way.begin() != "..";
    return (inside ? project.parent_path() / name : name).string();
}

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = words.has("run-id") ? words.text("run-id") : TRY(run_name(words));
    const Json record = TRY(context.run(name));
    std::error_code problem;
    const os::Path folder =
        std::filesystem::absolute(words.value("destination").value_or(default_folder(record)),
                                  problem)
            .lexically_normal();
    const Json answer =
        TRY(TRY(context.daemon())
                ->send("POST",
                       "/runs/" + record.text("run_id") + "/restore",
                       JsonObject{{"destination", folder.string()}, {"umask", own_umask()}},
                       Daemon::Repeat::never,
                       std::chrono::minutes(10)));
    if (answer["notices"].is_array()) {
        for (const Json& notice : answer["notices"].as_array())
            if (notice.is_string()) context.note("{}", printable(notice.as_string()));
    }
    note_what_travels(context, record.text("project_path"), folder);
    return context.done(
        fmt::format("{} file{} ({}) restored to {}",
                    answer.integer("files"),
                    answer.integer("files") == 1 ? "" : "s",
                    byte_size_text(static_cast<std::uint64_t>(answer.integer("bytes"))),
                    answer.text("destination", folder.string())),
        {{"destination", answer["destination"]},
         {"files", answer["files"]},
         {"bytes", answer["bytes"]}});
}

}  // namespace project_restore_command

constinit const Command cmd_project_restore = {
    .path = "project restore",
    .summary = "Restore the files of a run's snapshot into a new folder",
    .description = "The project's own folder is never overwritten.",
    .options = project_restore_command::options,
    .positionals = project_restore_command::positionals,
    .examples = project_restore_command::examples,
    .run = project_restore_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/artifact.hpp"
#include "cli/runs/log_stream.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/runs/travel_note.hpp"

#include <algorithm>

namespace ponk::cli {
namespace history_download_command {

constexpr Option options[] = {
    common::run_option,
    {.name = "destination",
     .brief = "d",
     .value = "FOLDER",
     .help = "Folder to write to. Default: a folder named after the run.",
     .complete = Complete::folder},
    {.name = "artifact",
     .brief = "a",
     .value = "PATH",
     .help = "Only this file or folder. May be repeated.",
     .times = Option::Times::many},
    {.name = "overwrite", .brief = "f", .help = "Replace existing files."},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk history download last -d results", "Download log and outputs of the newest run."},
    {"ponk history download 4f1e --artifact outputs/model.pkl -d .", "Download one file."},
};

bool wanted(const std::string& path, const std::vector<std::string>& chosen)
{
    if (chosen.empty()) return true;
    for (std::string choice : chosen) {
        while (!choice.empty() && choice.back() == '/')
            choice.pop_back();
        if (path == choice || path.starts_with(choice + "/")) return true;
    }
    return false;
}

std::vector<Error> problems_of(const Json& answer)
{
    std::vector<Error> problems;
    if (!answer["problems"].is_array()) return problems;
    for (const Json& problem : answer["problems"].as_array()) {
        problems.emplace_back(
            error_kind_from(problem.text("kind")), problem.text("message"), problem.text("hint"));
    }
    return problems;
}

Error no_such_artifact(const Json& run, const Json& answer, const std::string& wanted)
{
    std::vector<std::string> names;
    if (answer["artifacts"].is_array()) {
        for (const Json& artifact : answer["artifacts"].as_array())
            names.push_back(artifact.text("path"));
    }
    const auto near = nearest(wanted, names);
    return {ErrorKind::not_found,
            fmt::format("run '{}' has no artifact '{}'", run.text("run_id"), printable(wanted)),
            near ? fmt::format("Did you mean '{}'?", printable(*near))
                 : fmt::format("'ponk history info {}' lists the artifacts.", brief_id(run))};
}

Outcome run(Context& context, const Invocation& words)
{
    const Json record = TRY(context.run(TRY(run_name(words))));
    const std::string id = record.text("run_id");
    Daemon* daemon = TRY(context.daemon());
    const Json answer = TRY(daemon->get("/runs/" + id + "/artifacts"));
    const auto chosen = words.values("artifact");
    const os::Path folder = words.value("destination").value_or("ponk-" + brief_id(record));
    const Overwrite overwrite = words.has("overwrite") ? Overwrite::yes : Overwrite::no;
    std::vector<Error> damage = problems_of(answer);
    JsonArray files;
    bool took_log = false;
    if (answer["artifacts"].is_array()) {
        for (const Json& artifact : answer["artifacts"].as_array()) {
            const std::string path = artifact.text("path");
            if (!wanted(path, chosen)) continue;
            context.detail("{} ({})",
                           printable(path),
                           byte_size_text(static_cast<std::uint64_t>(artifact.integer("size"))));
            const std::string link = artifact.text("link");
            const os::Path name = TRY(safe_relative(path));
            const auto file = link.empty()
                                  ? download_artifact(*daemon, id, path, folder, name, overwrite)
                                  : make_artifact_link(link, folder, name, overwrite);
            // What is damaged hides nothing else: it is told when all others are here.
            if (!file && file.error().kind() != ErrorKind::damaged)
                return tl::unexpected(Failure(file.error()));
            if (file) {
                took_log = took_log || path == "driver_log";
                files.push_back(JsonObject{{"artifact", path}, {"file", file->string()}});
            } else {
                damage.push_back(file.error());
            }
        }
    }
    if (answer["left_out"].is_array()) {
        for (const Json& link : answer["left_out"].as_array()) {
            if (!wanted(link.text("path"), chosen)) continue;
            context.note("not downloaded: '{}' is a link to '{}', outside the outputs",
                         printable(link.text("path")),
                         printable(link.text("link")));
        }
    }
    // While it was read, the daemon saw all of it.
    if (took_log) {
        const auto found = TRY(find_log_damage(*daemon, id));
        const auto known = [&](const Error& one) { return one.message() == found->message(); };
        if (found && std::none_of(damage.begin(), damage.end(), known)) damage.push_back(*found);
    }
    if (!damage.empty()) {
        TRY(context.print(Json(std::move(files))));
        for (std::size_t i = 1; i < damage.size(); ++i)
            context.note("{}", damage[i].message());
        return tl::unexpected(Failure(damage.front()));
    }
    if (files.empty() && !chosen.empty()) {
        return tl::unexpected(Failure(no_such_artifact(record, answer, chosen[0])));
    }
    if (files.empty()) {
        context.note("run {} has no files{}",
                     id,
                     record["imported_utc"].is_null()
                         ? ""
                         : fmt::format(": it was imported, and its files are on machine '{}'",
                                       printable(record.text("host"))));
    }
    if (!files.empty()) note_what_travels(context, record.text("project_path"), folder);
    return context.print(Json(std::move(files)));
}

}  // namespace history_download_command

constinit const Command cmd_history_download = {
    .path = "history download",
    .summary = "Download the log and outputs of a run",
    .options = history_download_command::options,
    .positionals = history_download_command::positionals,
    .examples = history_download_command::examples,
    .history = Command::History::any,
    .run = history_download_command::run,
};

}  // namespace ponk::cli

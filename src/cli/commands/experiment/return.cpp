// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/client/own_umask.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"

#include <chrono>

namespace ponk::cli {
namespace experiment_return_command {

constexpr Option options[] = {
    common::run_option,
    common::ignored_target,
    {.name = "overwrite", .brief = "f", .help = "Replace existing files."},
    {.name = "destination",
     .brief = "d",
     .value = "FOLDER",
     .help = "Folder to copy to. Default: the folder of the run's project.",
     .complete = Complete::folder},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk experiment return last", "Copy files that the run created into the project."},
    {"ponk experiment return 4f1e -d /tmp/look", "Copy them to another folder."},
};

// The folder that was named, else that of the run's own project, wherever the user is.
tl::expected<os::Path, Failure>
destination_of(Context& context, const Invocation& words, const Json& record)
{
    std::error_code problem;
    if (const auto given = words.value("destination"))
        return std::filesystem::absolute(*given, problem).lexically_normal();
    const os::Path here = TRY(context.project());
    if (record.text("project") == TRY(context.project_id())) return here;
    const os::Path folder = record.text("project_path");
    if (!std::filesystem::is_directory(folder, problem)) {
        return tl::unexpected(
            Failure(Error(ErrorKind::not_found,
                          "the project of the run, " + os::in_quotes(folder) + ", no longer exists",
                          "Name a folder to copy to: '-d FOLDER'."),
                    exit_code::not_found));
    }
    context.note("the run belongs to another project: its files go to {}", os::in_quotes(folder));
    return folder;
}

Outcome run(Context& context, const Invocation& words)
{
    const Json record = TRY(context.run(TRY(run_name(words))));
    const os::Path destination = TRY(destination_of(context, words, record));
    const Json answer = TRY(TRY(context.daemon())
                                ->send("POST",
                                       "/runs/" + record.text("run_id") + "/return",
                                       JsonObject{{"destination", destination.string()},
                                                  {"overwrite", words.has("overwrite")},
                                                  {"umask", own_umask()}},
                                       Daemon::Repeat::never,
                                       std::chrono::minutes(10)));
    View view;
    JsonArray rows;
    for (const auto& [field, word] :
         {std::pair{"copied", "copied"}, {"skipped", "skipped: exists"}}) {
        if (!answer[field].is_array()) continue;
        for (const Json& path : answer[field].as_array()) {
            rows.push_back(JsonObject{{"file", path}, {"result", word}});
        }
    }
    if (answer["skipped"].is_array() && !answer["skipped"].as_array().empty()) {
        context.note("'--overwrite' replaces existing files");
    }
    const Json& failed = answer["failed"];
    const bool whole = !failed.is_array() || failed.as_array().empty();
    if (!whole) {
        for (const Json& one : failed.as_array()) {
            rows.push_back(JsonObject{{"file", one["path"]},
                                      {"result", "not copied: " + one.text("message")}});
        }
    }
    view.rows = std::move(rows);
    auto printed = context.print(answer, view);
    if (whole || !printed) return printed;
    const Json& first = failed.as_array().front();
    for (const Json& one : failed.as_array())
        context.note("'{}' was not copied: {}", printable(one.text("path")), one.text("message"));
    return tl::unexpected(Failure(
        Error(error_kind_from(first.text("kind")),
              fmt::format("{} of the run's files could not be copied", failed.as_array().size()),
              "The other files are in " + os::in_quotes(destination) +
                  "; use '-d FOLDER' for another folder.")));
}

}  // namespace experiment_return_command

constinit const Command cmd_experiment_return = {
    .path = "experiment return",
    .summary = "Copy files that a run created or changed into the project",
    .description = "Existing files are not changed unless --overwrite is given.",
    .options = experiment_return_command::options,
    .positionals = experiment_return_command::positionals,
    .examples = experiment_return_command::examples,
    .run = experiment_return_command::run,
};

}  // namespace ponk::cli

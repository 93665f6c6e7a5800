// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/terminal/progress_line.hpp"

#include <filesystem>
#include <unistd.h>

namespace ponk::cli {
namespace history_import_command {

constexpr std::size_t most_remarks = 20;
// A run with very many points, or a file being compared, is one step.
constexpr std::chrono::minutes step_limit{30};

constexpr std::string_view forms[] = {"jsonl", "csv", "mlflow-db", "mlflow-files"};
constexpr Option options[] = {
    {.name = "format",
     .value = "FORM",
     .help = "jsonl: output of 'ponk history export'. csv: a table of runs. mlflow-db: a SQLite "
             "database of MLflow. mlflow-files: a folder 'mlruns'. Default: detected from PATH.",
     .complete = Complete::choice,
     .choices = forms},
    {.name = "artifacts",
     .value = "DIR",
     .help = "Folder with the files of runs and models, if they are not next to MLflow's store: "
             "the artifact root, or a copy of it.",
     .complete = Complete::folder},
    {.name = "experiment",
     .value = "NAME=OTHER",
     .help = "Import the runs of experiment NAME into experiment OTHER. May be repeated.",
     .times = Option::Times::many},
    {.name = "dry-run", .help = "Only show what would be imported."},
};
constexpr Positional positionals[] = {
    {.name = "PATH",
     .help = "A file of 'ponk history export', a table of runs, an MLflow database, or an MLflow "
             "folder 'mlruns'.",
     .complete = Complete::file},
};
constexpr Example examples[] = {
    {"ponk history import runs.jsonl", "Import an export of another machine."},
    {"ponk history import results.csv",
     "Import a table with columns such as name, params.lr, metrics.accuracy."},
    {"ponk history import mlruns --dry-run", "Show what an import of an MLflow folder would add."},
    {"ponk history import mlflow.db --artifacts /srv/mlartifacts",
     "Import the database of an MLflow server, with its artifacts."},
};

Result<std::string> absolute(const std::string& path)
{
    std::error_code problem;
    auto whole = std::filesystem::absolute(path, problem);
    if (problem) return fail(ErrorKind::not_found, "the current folder is gone");
    return whole.lexically_normal().native();
}

tl::expected<Json, Failure> request_of(const Invocation& words)
{
    auto path = TRY(absolute(words.words().at(0)));
    JsonObject body{{"path", std::move(path)}, {"dry_run", words.has("dry-run")}};
    if (const auto form = words.value("format")) body.set("format", *form);
    if (const auto folder = words.value("artifacts")) body.set("artifacts", TRY(absolute(*folder)));
    JsonObject experiments;
    for (const std::string& pair : words.values("experiment")) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
            return fail_usage("'--experiment {}' is not NAME=OTHER", printable(pair));
        experiments.set(pair.substr(0, equals), pair.substr(equals + 1));
    }
    body.set("experiments", std::move(experiments));
    return Json(std::move(body));
}

std::string counted(std::int64_t count, std::string_view one)
{
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string progress_text(const Json& step)
{
    const auto& report = step["report"];
    return fmt::format("{:3.0f} %  {}, {}",
                       100 * (step["fraction"].is_number() ? step["fraction"].as_double() : 0),
                       counted(report["runs"].integer("found"), "run"),
                       counted(report.integer("points"), "point"));
}

// "3 runs (1 is here already)"
std::string tally_text(const Json& report, std::string_view member, std::string_view one)
{
    const auto& tally = report[member];
    std::vector<std::string> rest;
    if (const auto same = tally.integer("same"); same > 0)
        rest.push_back(fmt::format("{} already present", same));
    if (const auto refused = tally.integer("refused"); refused > 0)
        rest.push_back(fmt::format("{} refused", refused));
    return counted(tally.integer("added"), one) +
           (rest.empty() ? "" : " (" + join(rest, ", ") + ")");
}

std::string summary_text(const Json& report, bool dry)
{
    std::vector<std::string> parts{tally_text(report, "experiments", "experiment"),
                                   tally_text(report, "runs", "run"),
                                   counted(report.integer("points"), "point")};
    if (report["models"].integer("found") > 0)
        parts.push_back(tally_text(report, "models", "logged model"));
    if (report["registered_models"].integer("found") > 0)
        parts.push_back(tally_text(report, "registered_models", "registered model"));
    if (report["files"].integer("found") > 0)
        parts.push_back(dry ? counted(report["files"].integer("found"), "file")
                            : tally_text(report, "files", "file"));
    return fmt::format("{}: {}", dry ? "would import" : "imported", join(parts, ", "));
}

void tell(const Context& context, const Json& remarks, std::string_view word)
{
    if (!remarks.is_array()) return;
    std::size_t told = 0;
    for (const Json& remark : remarks.as_array()) {
        if (++told > most_remarks) {
            context.note("… and more; '-o json' has {}",
                         remarks.as_array().size() == 1000 ? "the first 1000" : "all");
            return;
        }
        const auto times = remark.integer("times", 1);
        context.note("{}: {}: {}{}",
                     remark.text("where"),
                     word,
                     remark.text("why"),
                     times > 1 ? fmt::format(" (and {} more like it)", times - 1) : "");
    }
}

tl::expected<Json, Failure> all_steps(Daemon& daemon, const std::string& id)
{
    ProgressLine progress(STDERR_FILENO);
    for (;;) {
        const Json step = TRY(
            daemon.send("POST", "/imports/" + id + "/step", {}, Daemon::Repeat::never, step_limit));
        if (step.boolean("done")) return step["report"];
        progress.show(progress_text(step));
    }
}

Outcome run(Context& context, const Invocation& words)
{
    const Json request = TRY(request_of(words));
    Daemon* daemon = TRY(context.daemon());
    const Json begun =
        TRY(daemon->send("POST", "/imports", request, Daemon::Repeat::never, step_limit));
    const Json report = TRY(all_steps(*daemon, begun.text("import")));
    tell(context, report["left_out"], "left out");
    tell(context, report["problems"], "not imported");
    JsonObject fields{{"format", begun.text("format")}, {"dry_run", words.has("dry-run")}};
    for (const auto& [key, value] : report.as_object())
        fields.set(key, value);
    TRY(context.done(summary_text(report, words.has("dry-run")), std::move(fields)));
    if (report["runs"].integer("added") > 0 && !words.has("dry-run"))
        context.note("'ponk runs --all-projects' lists them");
    if (begun.text("format") == "jsonl" && report["runs"].integer("added") > 0)
        context.note("an export has no files: logs, outputs, model files and snapshots stay on the "
                     "original machine");
    const auto problems = report.integer("problem_count");
    if (problems == 0) return exit_code::success;
    return tl::unexpected(
        Failure(Error(ErrorKind::invalid_argument,
                      fmt::format("{} could not be imported", counted(problems, "thing")),
                      "The lines above name each problem; everything else is imported. A second "
                      "import adds only what is missing."),
                exit_code::invalid));
}

}  // namespace history_import_command

constinit const Command cmd_history_import = {
    .path = "history import",
    .summary = "Import runs from an export, a table, or an MLflow database or folder",
    .description =
        "The source is never changed; a database may be in use. Runs keep their ids. Runs and "
        "models that are already present and equal are skipped, so an interrupted import can be "
        "repeated. A run or model with the same id but different content is refused; nothing is "
        "overwritten. Each run is imported completely or not at all.\nFiles of runs and models are "
        "copied if they are next to MLflow's store or in --artifacts DIR; ponk reports the files "
        "that it did not copy. An export contains no files: snapshots, outputs and logs stay on "
        "the original machine. Traces, and experiments of workspaces other than 'default', are not "
        "imported.\nA table (CSV with commas, semicolons or tabs) has a header line with any of "
        "run_id, name, status, user, experiment, start_time_utc, end_time_utc, params.NAME, "
        "tags.NAME and metrics.NAME, and one line per run. A run without an id gets an id computed "
        "from its line. Its experiment is named after the file, unless the line has one. Each "
        "metric has one value.",
    .options = history_import_command::options,
    .positionals = history_import_command::positionals,
    .examples = history_import_command::examples,
    .exits = "0 if everything is imported or already present; 65 if something was refused or is "
             "damaged: everything else is imported.",
    .run = history_import_command::run,
};

}  // namespace ponk::cli

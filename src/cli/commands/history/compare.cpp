// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/history/code_diff.hpp"
#include "cli/commands/history/run_comparison.hpp"
#include "cli/runs/gpu_view.hpp"
#include "model/run_words.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unistd.h>

namespace ponk::cli {
namespace history_compare_command {

constexpr Option options[] = {
    {.name = "run",
     .brief = "r",
     .value = "RUN",
     .help = "Same as RUN. May be repeated.",
     .times = Option::Times::many,
     .complete = Complete::run},
    {.name = "all", .brief = "a", .help = "Also show fields that are equal."},
    {.name = "diff", .help = "Also show how the text files of two runs differ."},
    {.name = "all-fields", .help = "Same as --all.", .shown = Option::Shown::no},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Two or more runs.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history compare 1 2", "Compare runs by their numbers in the project."},
    {"ponk history compare 4f1e 77ab",
     "Show the differences in configuration, arguments, files and metrics."},
    {"ponk history compare 1 2 --diff", "Show also the lines of code that changed."},
    {"ponk history compare $(ponk runs -n 9 -o tsv --query '[].run_id')",
     "Compare the newest nine runs."},
};

// Differ in every run, so they say nothing.
constexpr std::string_view left_out[] = {"run_id",
                                         "run_number",
                                         "created_utc",
                                         "start_time_utc",
                                         "end_time_utc",
                                         "evidence",
                                         "metrics",
                                         "timings",
                                         "attachments",
                                         "gpu_evidence",
                                         "duration_ms"};

// Metrics whose name is that of a field of the run: they have no field of their own.
std::vector<std::string> clashing_metrics(const JsonArray& runs)
{
    std::vector<std::string> names;
    for (const Json& run : runs) {
        if (!run["metrics"].is_object()) continue;
        for (const auto& [name, value] : run["metrics"].as_object()) {
            if (run[name] == value || std::ranges::find(names, name) != names.end()) continue;
            names.push_back(name);
        }
    }
    return names;
}

JsonArray
compare_fields(const JsonArray& runs, const std::vector<ComparedField>& fields, Equal equals)
{
    const bool equal_too = equals == Equal::shown;
    std::vector<std::string> keys;
    for (const Json& run : runs) {
        for (const auto& [key, value] : run.as_object()) {
            if (std::ranges::count(left_out, key) > 0) continue;
            // The whole does not show where it differs: its parts follow.
            if (key == "configuration") continue;
            // What ponk measures differs in every run too.
            if (!equal_too && key.starts_with(model::system_prefix)) continue;
            if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
        }
    }
    JsonArray rows;
    for (const std::string& name : clashing_metrics(runs)) {
        JsonArray values;
        for (const Json& run : runs)
            values.push_back(run["metrics"][name]);
        const bool equal =
            std::ranges::all_of(values, [&](const Json& value) { return value == values[0]; });
        if (equal && !equal_too) continue;
        rows.push_back(JsonObject{
            {"field", "metrics." + name}, {"values", std::move(values)}, {"equal", equal}});
    }
    for (const std::string& key : keys) {
        JsonArray values;
        bool differ = false;
        for (const Json& run : runs) {
            values.push_back(run[key]);
            differ = differ || !(run[key] == runs[0][key]);
        }
        const bool verdicts = key == "gpu_verdict" && std::ranges::any_of(runs, wants_gpus);
        if (!differ && !equal_too && !verdicts) continue;
        rows.push_back(
            JsonObject{{"field", key}, {"values", std::move(values)}, {"equal", !differ}});
    }
    for (const ComparedField& field : fields) {
        if (!field.name.starts_with("configuration.") || (field.equal && !equal_too)) continue;
        rows.push_back(
            JsonObject{{"field", field.name}, {"values", field.values}, {"equal", field.equal}});
    }
    return rows;
}

// Files of the two snapshots that are not alike. Runs of clients have none.
enum class Diff { hidden, shown };
Result<JsonArray> compare_files(Daemon& daemon, const Json& first, const Json& second, Diff diff)
{
    JsonArray rows;
    if (first["snapshot"] == second["snapshot"] || first["snapshot"].is_null() ||
        second["snapshot"].is_null())
        return rows;
    constexpr std::int64_t most_text = std::int64_t{1} << 20;
    std::map<std::string, std::pair<std::string, std::string>> digests;
    std::set<std::string> no_text;
    const auto collect = [&](const Json& run, auto member) -> Result<> {
        const Json answer = TRY(daemon.get("/runs/" + run.text("run_id") + "/snapshot"));
        if (!answer["files"].is_array()) return {};
        for (const Json& file : answer["files"].as_array()) {
            digests[file.text("path")].*member = file.text("digest", "?") + to_json(file["mode"]);
            if (file.integer("size") > most_text || file.text("mode") == "link")
                no_text.insert(file.text("path"));
        }
        return {};
    };
    TRY(collect(first, &std::pair<std::string, std::string>::first));
    TRY(collect(second, &std::pair<std::string, std::string>::second));
    for (const auto& [path, pair] : digests) {
        if (pair.first == pair.second) continue;
        const char* change = pair.first.empty()    ? "added"
                             : pair.second.empty() ? "removed"
                                                   : "changed";
        JsonObject row{{"path", path}, {"change", change}};
        if (diff == Diff::shown)
            row.set(
                "diff",
                TRY(unified_diff(
                    daemon,
                    first.text("run_id"),
                    second.text("run_id"),
                    {path, !pair.first.empty(), !pair.second.empty(), !no_text.contains(path)})));
        rows.push_back(std::move(row));
    }
    return rows;
}

// The packages of runs whose lists differ become a field of each run.
Result<> add_packages(Daemon& daemon, JsonArray& runs)
{
    const auto digest = [](const Json& run) { return run["environment"].text("lock_digest"); };
    if (std::ranges::all_of(runs, [&](const Json& run) { return digest(run) == digest(runs[0]); }))
        return {};
    for (Json& run : runs) {
        if (digest(run).empty()) continue;
        const auto lock = daemon.get("/runs/" + run.text("run_id") + "/lock");
        // The digests still differ, and that is shown.
        if (!lock) return {};
        JsonObject packages;
        for (const Json& package : (*lock)["packages"].as_array())
            packages.set(package.text("name"), package["version"]);
        run.as_object().set("packages", std::move(packages));
    }
    return {};
}

// Columns for TSV: one line for each field, a value for each run.
View lines_for_programs(const JsonArray& runs,
                        const std::vector<ComparedField>& fields,
                        Equal equal)
{
    View view;
    view.columns.push_back({.key = "field"});
    for (std::size_t i = 0; i < runs.size(); ++i)
        view.columns.push_back({.key = std::to_string(i)});
    JsonArray rows;
    for (const ComparedField& field : fields) {
        if (equal == Equal::hidden && (field.equal || field.measured)) continue;
        JsonObject row{{"field", field.name}};
        for (std::size_t i = 0; i < runs.size(); ++i)
            row.set(std::to_string(i), field.values[i]);
        rows.push_back(std::move(row));
    }
    view.exact = std::move(rows);
    return view;
}

std::string files_table(const JsonArray& files, const output::Terminal& terminal)
{
    if (files.empty()) return {};
    return "\n" + output::render(Json(files),
                                 output::Format::table,
                                 terminal,
                                 {{.key = "path", .title = "file", .min = 20},
                                  {.key = "change", .min = output::whole}});
}

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    for (std::string& name : words.values("run"))
        names.push_back(std::move(name));
    if (names.size() < 2) return fail_usage("'history compare' needs two or more runs");
    JsonArray runs;
    for (const std::string& name : names)
        runs.push_back(TRY(context.run(name)));
    const Equal equal = words.has("all") || words.has("all-fields") ? Equal::shown : Equal::hidden;
    TRY(add_packages(*TRY(context.daemon()), runs));
    const auto fields = compare_runs(runs);
    JsonArray files;
    if (words.has("diff") && runs.size() != 2) return fail_usage("'--diff' needs exactly two runs");
    if (runs.size() == 2)
        files = TRY(compare_files(*TRY(context.daemon()),
                                  runs[0],
                                  runs[1],
                                  words.has("diff") ? Diff::shown : Diff::hidden));
    if (context.format() == output::Format::table && !context.has_query()) {
        const auto terminal = output::detect_terminal(STDOUT_FILENO);
        const auto table = comparison_table(runs, fields, equal, terminal);
        if (table.empty() && files.empty())
            return context.done("these runs are equal, except for their ids and times");
        TRY(Context::print_text(table + files_table(files, terminal)));
        for (const Json& file : files) {
            if (words.has("diff"))
                TRY(Context::print_text("\n" + file.text("diff"), Passing::text));
        }
        if (!files.empty() && !words.has("diff"))
            context.note("'--diff' shows the lines that changed");
        return exit_code::success;
    }
    JsonArray ids;
    for (const Json& run : runs)
        ids.push_back(run["run_id"]);
    return context.print(JsonObject{{"runs", std::move(ids)},
                                    {"differences", compare_fields(runs, fields, equal)},
                                    {"fields", comparison_json(fields)},
                                    {"files", std::move(files)}},
                         lines_for_programs(runs, fields, equal));
}

}  // namespace history_compare_command

constinit const Command cmd_history_compare = {
    .path = "history compare",
    .summary = "Show the differences between runs",
    .description =
        "Shows the fields in which the runs differ: state, parameters, tags, latest metric values, "
        "git, environment, GPU verdict and configuration; for two runs also the files of their "
        "snapshots. Each run has a column, or a line if the columns do not fit. '-': the run has "
        "no such value. ' *' marks the best value of a metric whose name says what is better: the "
        "lowest loss or error, the highest accuracy, auc or f1. Other metrics have no mark.\nIn "
        "JSON 'fields' contains every field with all values, and for metrics also 'better' (lower, "
        "higher, null) and 'best', the positions of the best runs, counted from 0. With --diff "
        "each of "
        "'files' has a unified 'diff'; files that are not text, or larger than 1 MiB, are only "
        "named.",
    .options = history_compare_command::options,
    .positionals = history_compare_command::positionals,
    .examples = history_compare_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::any,
    .run = history_compare_command::run,
};

}  // namespace ponk::cli

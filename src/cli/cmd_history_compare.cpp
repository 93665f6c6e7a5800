// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/gpu_view.hpp"
#include "cli/run_view.hpp"
#include "model/run_words.hpp"

#include <algorithm>
#include <map>

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    {.name = "run",
     .brief = "r",
     .value = "RUN",
     .help = "A run, as an option. May be repeated.",
     .times = Option::Times::many,
     .complete = Complete::run},
    {.name = "all-fields", .brief = "a", .help = "Fields that are equal too."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Two runs or more.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history compare 1 2", "Runs by their numbers in the project."},
    {"ponk history compare 4f1e 77ab", "What differs: configuration, arguments, files, metrics."},
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

JsonArray compare_fields(const JsonArray& runs, bool equal_too)
{
    std::vector<std::string> keys;
    for (const Json& run : runs) {
        for (const auto& [key, value] : run.as_object()) {
            if (std::ranges::count(left_out, key) > 0) continue;
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
    return rows;
}

// Files of the two snapshots that are not alike.
Result<JsonArray> compare_files(Daemon& daemon, const Json& first, const Json& second)
{
    JsonArray rows;
    if (first["snapshot"] == second["snapshot"]) return rows;
    std::map<std::string, std::pair<std::string, std::string>> digests;
    const auto collect = [&](const Json& run, auto member) -> Result<> {
        const Json answer = TRY(daemon.get("/runs/" + run.text("run_id") + "/snapshot"));
        if (!answer["files"].is_array()) return {};
        for (const Json& file : answer["files"].as_array()) {
            digests[file.text("path")].*member = file.text("digest", "?") + to_json(file["mode"]);
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
        rows.push_back(JsonObject{{"path", path}, {"change", change}});
    }
    return rows;
}

enum class Equal { hidden, shown };

bool has_object(const JsonArray& values)
{
    return std::ranges::any_of(values, [](const Json& value) { return value.is_object(); });
}

// One row for a field, or for each field below it: whole objects in cells would be cut where they
// are still alike.
void add_rows(JsonArray& rows, const std::string& field, const JsonArray& values, Equal equal)
{
    if (equal == Equal::hidden &&
        std::ranges::all_of(values, [&](const Json& value) { return value == values[0]; }))
        return;
    if (has_object(values)) {
        std::vector<std::string> keys;
        for (const Json& value : values) {
            if (!value.is_object()) continue;
            for (const auto& [key, below] : value.as_object()) {
                if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
            }
        }
        for (const std::string& key : keys) {
            JsonArray below;
            for (const Json& value : values)
                below.push_back(value[key]);
            add_rows(rows, field + "." + key, below, equal);
        }
        return;
    }
    JsonObject row{{"field", field}};
    for (std::size_t i = 0; i < values.size(); ++i) {
        row.set(std::to_string(i), values[i].is_array() ? Json(words_text(values[i])) : values[i]);
    }
    rows.push_back(std::move(row));
}

// The configuration without what the runs themselves have as fields: that has rows already.
JsonArray beyond_fields(const JsonArray& runs, const JsonArray& configurations)
{
    JsonArray rest;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        JsonObject kept;
        if (configurations[i].is_object()) {
            for (const auto& [key, value] : configurations[i].as_object()) {
                if (runs[i][key] != value) kept.append(key, value);
            }
        }
        rest.push_back(std::move(kept));
    }
    return rest;
}

View table_of(const JsonArray& runs, const JsonArray& fields, const JsonArray& files)
{
    View view;
    view.columns.push_back({.key = "field"});
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        keys.push_back(std::to_string(i));
        view.columns.push_back({.key = keys.back(),
                                .title = brief_id(runs[i]),
                                .align = output::Align::left,
                                .min = 8});
    }
    JsonArray rows;
    for (const Json& field : fields) {
        const std::string name = field.text("field");
        const JsonArray& values = field["values"].as_array();
        add_rows(rows,
                 name,
                 name == "configuration" ? beyond_fields(runs, values) : values,
                 field.boolean("equal") ? Equal::shown : Equal::hidden);
    }
    for (const Json& file : files) {
        JsonObject row{{"field", "file " + file.text("path")}};
        row.set(keys[1], file["change"]);
        rows.push_back(std::move(row));
    }
    view.rows = rows;
    view.exact = std::move(rows);
    return view;
}

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    for (std::string& name : words.values("run"))
        names.push_back(std::move(name));
    if (names.size() < 2) return fail_usage("'history compare' needs two runs or more");
    JsonArray runs;
    for (const std::string& name : names)
        runs.push_back(TRY(context.run(name)));
    JsonArray fields = compare_fields(runs, words.has("all-fields"));
    JsonArray files;
    if (runs.size() == 2) files = TRY(compare_files(*TRY(context.daemon()), runs[0], runs[1]));
    const View view = table_of(runs, fields, files);
    if (fields.empty() && files.empty() && context.format() == output::Format::table &&
        !context.has_query()) {
        return context.done("these runs are equal, but for their ids and times");
    }
    JsonArray ids;
    for (const Json& run : runs)
        ids.push_back(run["run_id"]);
    return context.print(JsonObject{{"runs", std::move(ids)},
                                    {"differences", std::move(fields)},
                                    {"files", std::move(files)}},
                         view);
}

}  // namespace

constinit const Command cmd_history_compare = {
    .path = "history compare",
    .summary = "Show what differs between runs",
    .description = "Compares all fields, metrics among them, and for two runs the files of their "
                   "snapshots.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

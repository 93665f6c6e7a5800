// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/run_comparison.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/runs/gpu_view.hpp"
#include "cli/runs/run_view.hpp"
#include "model/run_spec.hpp"
#include "model/run_words.hpp"
#include "output/cell.hpp"
#include "output/column_order.hpp"
#include "output/table.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::cli {
namespace {

// Fields in the order in which people look for them; all others come behind.
constexpr std::string_view first_fields[] = {"run_number",
                                             "name",
                                             "status",
                                             "exit_code",
                                             "error",
                                             "duration",
                                             "gpu_verdict",
                                             "script_name",
                                             "arguments",
                                             "target",
                                             "run_configuration",
                                             "params",
                                             "tags",
                                             "metrics",
                                             "git",
                                             "environment"};
// Part of others, or bulk that no table is for.
constexpr std::string_view left_out[] = {
    "run_id", "experiment_id", "project", "duration_ms", "evidence", "gpu_evidence", "attachments"};
// These differ in every run, so they say nothing.
constexpr std::string_view always_differ[] = {"run_number",
                                              "created_utc",
                                              "start_time_utc",
                                              "end_time_utc",
                                              "timings",
                                              "outputs",
                                              "environment.reason",
                                              // 'packages' has each of them.
                                              "environment.lock_digest",
                                              "environment.packages"};

template <class Words>
bool one_of(const Words& words, std::string_view word)
{
    return std::ranges::count(words, word) > 0;
}

// The names of an object in any of `values`, in order of first sight.
std::vector<std::string> keys_of(const JsonArray& values)
{
    std::vector<std::string> keys;
    KeyedMap<int, std::string_view> seen;
    for (const Json& value : values) {
        if (!value.is_object()) continue;
        for (const auto& [key, below] : value.as_object())
            if (seen.emplace(key, 0).second) keys.push_back(key);
    }
    return keys;
}

JsonArray members(const JsonArray& values, std::string_view key)
{
    JsonArray below;
    for (const Json& value : values)
        below.push_back(value[key]);
    return below;
}

void mark_best(ComparedField& field, std::string_view metric)
{
    field.better = model::better_of(metric);
    if (field.better == model::Better::unknown || field.equal) return;
    const auto number = [](const Json& value) {
        return value.is_number() && std::isfinite(value.as_double());
    };
    std::optional<double> best;
    std::size_t numbers = 0;
    for (const Json& value : field.values) {
        if (!number(value)) continue;
        ++numbers;
        const double one = value.as_double();
        const bool better =
            !best || (field.better == model::Better::lower ? one < *best : one > *best);
        if (better) best = one;
    }
    if (numbers < 2) return;
    for (std::size_t i = 0; i < field.values.size(); ++i) {
        if (number(field.values[i]) && field.values[i].as_double() == *best)
            field.best.push_back(i);
    }
}

class Comparison {
public:
    explicit Comparison(const JsonArray& runs) : runs_(runs) {}

    std::vector<ComparedField> take()
    {
        for (const std::string_view key : first_fields)
            field(std::string(key));
        for (const std::string& key : names_of(runs_, Entity::attribute))
            if (!one_of(first_fields, key) && !one_of(left_out, key)) field(key);
        return std::move(fields_);
    }

private:
    void field(const std::string& key)
    {
        if (key == "metrics") {
            metrics();
        } else if (key == "configuration") {
            // Without what the runs themselves have as fields: that has rows already.
            JsonArray rest;
            for (const Json& run : runs_)
                rest.push_back(beyond_fields(run));
            add(key, rest);
        } else if (key == "warnings") {
            JsonArray texts;
            for (const Json& run : runs_)
                texts.push_back(without_own_id(run));
            add(key, std::move(texts));
        } else if (key == "error") {
            add("error", members(members(runs_, "error"), "message"));
        } else {
            add(key, members(runs_, key));
        }
    }

    void metrics()
    {
        for (const std::string& name : names_of(runs_, Entity::metric)) {
            JsonArray values;
            for (const Json& run : runs_)
                values.push_back(value_of(run, {Entity::metric, name}));
            append("metrics." + name, std::move(values));
            fields_.back().measured = name.starts_with(model::system_prefix);
            if (!fields_.back().measured) mark_best(fields_.back(), name);
        }
    }

    // Each has lines of its own, so that one that differs does not hide the others.
    static Json by_path(const JsonArray& inputs)
    {
        JsonObject named;
        for (const Json& input : inputs) {
            Json measured = input;
            const auto path = input.text("path");
            measured.as_object().erase("path");
            // The same text as everywhere else that shows times.
            if (const auto newest = input.integer("newest"); newest > 0)
                measured.as_object().set("newest", utc_text(newest));
            named.set(path, std::move(measured));
        }
        return named;
    }

    // Advice names the run it is for, which is no difference.
    static Json without_own_id(const Json& run)
    {
        if (!run["warnings"].is_array()) return run["warnings"];
        JsonArray texts;
        const auto id = brief_id(run);
        for (const Json& warning : run["warnings"].as_array()) {
            auto text = warning.is_string() ? warning.as_string() : std::string();
            if (const auto at = text.find(id); !id.empty() && at != text.npos)
                text.replace(at, id.size(), "RUN");
            texts.emplace_back(std::move(text));
        }
        return texts;
    }

    static Json beyond_fields(const Json& run)
    {
        auto spec = model::parse_run_spec(run["configuration"]);
        if (!spec) return JsonObject();
        spec->run_configuration = "";
        spec->program.framework = spec->program.script = "";
        spec->program.arguments.clear();
        spec->location.target = "";
        spec->environment.lock_digest
            .clear();  // what a rerun shall have; 'environment' has what it had
        // Names of rows are short: what the program gets stands beside the other parts.
        const auto stored = to_json(*spec);
        JsonObject kept;
        if (const auto& inputs = stored["inputs"]; inputs.is_array())
            kept.append("inputs", by_path(inputs.as_array()));
        for (const auto& [name, value] : stored.as_object())
            if (value.is_object() && name != "program") kept.append(name, value);
        if (const auto& program = stored["program"]; program.is_object()) {
            for (const auto& [name, value] : program.as_object())
                kept.append(name, value);
        }
        return kept;
    }

    // One field, or one for each below it: of whole objects nobody sees where they differ.
    void add(const std::string& name, JsonArray values)
    {
        const bool nested =
            std::ranges::any_of(values, [](const Json& value) { return value.is_object(); });
        if (!nested) {
            if (std::ranges::any_of(values, [](const Json& value) { return !value.is_null(); }))
                append(name, std::move(values));
            return;
        }
        for (const std::string& key : keys_of(values))
            add(name + "." + key, members(values, key));
    }

    void append(std::string name, JsonArray values)
    {
        ComparedField field{.name = std::move(name), .values = std::move(values), .best = {}};
        field.equal = std::ranges::all_of(
            field.values, [&](const Json& value) { return value == field.values[0]; });
        field.measured = one_of(always_differ, field.name) || field.name.starts_with("timings.");
        fields_.push_back(std::move(field));
    }

    const JsonArray& runs_;
    std::vector<ComparedField> fields_;
};

bool is_shown(const ComparedField& field, Equal equal, bool verdicts)
{
    if (equal == Equal::shown) return true;
    if (field.measured) return false;
    return !field.equal || (verdicts && field.name == "gpu_verdict");
}

// What a run has not is told as such: an empty cell may be an empty text.
std::string cell_of(const ComparedField& field, std::size_t run)
{
    const Json& value = field.values[run];
    const bool unnamed = field.name == "name" && value == Json("");
    if (value.is_null() || unnamed) return "-";
    std::string text = value.is_array() ? words_text(value) : output::cell_text(value);
    if (field.name == "git.commit" || field.name == "snapshot" || field.name == "environment.id")
        text = text.substr(0, 12);
    if (text.empty()) text = value.is_array() ? "none" : "''";
    if (std::ranges::count(field.best, run) > 0) text += " *";
    return text;
}

std::string title_of(const Json& run)
{
    if (!run["run_number"].is_integer()) return brief_id(run);
    return fmt::format("#{} {}", run.integer("run_number"), brief_id(run));
}

using Fields = std::vector<const ComparedField*>;

std::string
column_for_each_run(const JsonArray& runs, const Fields& fields, const output::Terminal& terminal)
{
    output::Columns columns{{.key = "field", .align = output::Align::left, .min = 12}};
    for (std::size_t i = 0; i < runs.size(); ++i)
        columns.push_back({.key = std::to_string(i),
                           .title = title_of(runs[i]),
                           .align = output::Align::left,
                           .min = 11});
    JsonArray rows;
    for (const ComparedField* field : fields) {
        JsonObject row{{"field", field->name}};
        for (std::size_t i = 0; i < runs.size(); ++i)
            row.set(std::to_string(i), cell_of(*field, i));
        rows.push_back(std::move(row));
    }
    return output::render_table(Json(std::move(rows)), terminal, columns);
}

// Metrics and parameters are what many runs are compared for.
int rank_of(const ComparedField& field)
{
    if (field.name.starts_with("metrics.")) return field.better == model::Better::unknown ? 2 : 0;
    if (field.name.starts_with("params.")) return 1;
    if (field.name == "status" || field.name == "name") return 2;
    return field.name.starts_with("tags.") || field.name == "arguments" ? 3 : 4;
}

std::string
line_for_each_run(const JsonArray& runs, const Fields& fields, const output::Terminal& terminal)
{
    output::Columns columns{{.key = "run", .min = output::whole}};
    std::vector<int> ranks{-1};
    for (const ComparedField* field : fields) {
        std::size_t widest = 0;
        for (std::size_t i = 0; i < runs.size(); ++i)
            widest = std::max(widest, display_width(cell_of(*field, i)));
        const bool metric = field->name.starts_with("metrics.");
        columns.push_back({.key = field->name,
                           .align = metric ? output::Align::right : output::Align::left,
                           .min = metric ? std::max<std::size_t>(widest, 12) : 10});
        ranks.push_back(rank_of(*field));
    }
    JsonArray rows;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        JsonObject row{{"run", title_of(runs[i])}};
        for (const ComparedField* field : fields)
            row.set(field->name, cell_of(*field, i));
        rows.push_back(std::move(row));
    }
    const Json lines(std::move(rows));
    return output::render_table(
        lines, terminal, output::order_by_rank(lines, columns, ranks, terminal));
}

// "* best: lowest metrics.loss; highest metrics.accuracy"
std::string legend(const Fields& fields, const output::Terminal& terminal)
{
    std::vector<std::string> parts;
    for (const auto& [better, word] :
         {std::pair{model::Better::lower, "lowest"}, {model::Better::higher, "highest"}}) {
        std::vector<std::string> names;
        for (const ComparedField* field : fields) {
            if (field->best.empty() || field->better != better) continue;
            names.push_back(printable(std::string_view(field->name).substr(8)));
        }
        if (!names.empty()) parts.push_back(fmt::format("{} {}", word, join(names, ", ")));
    }
    if (parts.empty()) return {};
    const auto room = terminal.width > 0 ? static_cast<std::size_t>(terminal.width) : 1'000'000;
    return join(output::wrapped("* best, by name: " + join(parts, "; "), room), "\n") + "\n";
}

}  // namespace

std::vector<ComparedField> compare_runs(const JsonArray& runs)
{
    return Comparison(runs).take();
}

std::string comparison_table(const JsonArray& runs,
                             const std::vector<ComparedField>& fields,
                             Equal equal,
                             const output::Terminal& terminal)
{
    const bool verdicts = std::ranges::any_of(runs, wants_gpus);
    Fields shown;
    for (const ComparedField& field : fields) {
        if (is_shown(field, equal, verdicts)) shown.push_back(&field);
    }
    if (shown.empty()) return {};
    // The names of the fields, and for each run as much as its title has.
    std::size_t needed = 12;
    for (const Json& run : runs)
        needed += 2 + display_width(title_of(run));
    const bool fits = terminal.width <= 0 || needed <= static_cast<std::size_t>(terminal.width);
    return (fits ? column_for_each_run(runs, shown, terminal)
                 : line_for_each_run(runs, shown, terminal)) +
           legend(shown, terminal);
}

JsonArray comparison_json(const std::vector<ComparedField>& fields)
{
    JsonArray rows;
    for (const ComparedField& field : fields) {
        JsonObject row{{"field", field.name}, {"values", field.values}, {"equal", field.equal}};
        if (field.name.starts_with("metrics.")) {
            row.set("better",
                    field.better == model::Better::unknown ? Json()
                    : field.better == model::Better::lower ? Json("lower")
                                                           : Json("higher"));
            JsonArray best;
            for (const std::size_t run : field.best)
                best.emplace_back(run);
            row.set("best", std::move(best));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace ponk::cli

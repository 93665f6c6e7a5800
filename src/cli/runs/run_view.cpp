// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/run_view.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/runs/gpu_view.hpp"
#include "cli/runs/run_names.hpp"
#include "cli/terminal/local_time.hpp"
#include "model/run_words.hpp"
#include "os/process.hpp"
#include "output/cell.hpp"

#include <algorithm>

namespace ponk::cli {
namespace {

using output::whole;

struct MetricColumn {
    std::string name;
    std::string key;
};

Json brief_value(const Json& value)
{
    if (value.type() == Json::Type::real) return fmt::format("{:.5g}", value.as_double());
    return value;
}

Json exact_row_of(const Json& run,
                  const output::Columns& columns,
                  const std::vector<MetricColumn>& metrics)
{
    JsonObject row;
    for (const auto& column : columns)
        row.set(column.key, run[column.key]);
    for (const MetricColumn& metric : metrics)
        row.set(metric.key, run["metrics"][metric.name]);
    return row;
}

// A list has no place in a column; its curve is in `history info`.
bool fits_a_column(const Json& value)
{
    return !value.is_object() && !value.is_array();
}

std::string shown_start(const Json& run, const std::string& now)
{
    return brief_shown_time(run.text("start_time_utc", run.text("created_utc")), now);
}

Json row_of(const Json& run, const std::vector<MetricColumn>& metrics, const std::string& now)
{
    JsonObject row{{"run_id", brief_id(run)},
                   {"run_number", run["run_number"]},
                   {"status", brief_status(run)},
                   {"exit_code", run["exit_code"]},
                   {"script_name", run["script_name"]},
                   {"name", run["name"]},
                   {"target", run["target"]},
                   {"start_time_utc", shown_start(run, now)},
                   {"duration",
                    run["duration_ms"].is_integer()
                        ? Json(brief_duration_text(run.integer("duration_ms")))
                        : Json()},
                   {"gpu_verdict", brief_gpu(run)}};
    for (const MetricColumn& metric : metrics) {
        const Json& value = run["metrics"][metric.name];
        row.set(metric.key, fits_a_column(value) ? brief_value(value) : Json());
    }
    return row;
}

std::string project_word(const Json& run, const JsonArray& runs)
{
    const std::string path = run.text("project_path");
    if (path.empty()) return run.text("experiment");  // a client's
    const std::string word = path.substr(path.rfind('/') + 1);
    for (const Json& other : runs) {
        const std::string there = other.text("project_path");
        if (there != path && there.substr(there.rfind('/') + 1) == word) return path;
    }
    return word;
}

}  // namespace

std::string brief_time(const std::string& utc, std::string_view now)
{
    static constexpr std::string_view months[] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (utc.size() < 19) return utc;
    if (now.substr(0, 10) == utc.substr(0, 10)) return utc.substr(11, 8);
    const auto month = parse_integer(utc.substr(5, 2));
    if (now.substr(0, 4) != utc.substr(0, 4) || !month || *month < 1 || *month > 12) {
        return utc.substr(0, 10);
    }
    return fmt::format("{} {} {}",
                       months[static_cast<std::size_t>(*month - 1)],
                       utc.substr(8, 2),
                       utc.substr(11, 5));
}

std::string brief_shown_time(const std::string& utc, const std::string& now)
{
    return shows_local_time() ? brief_time(local_time(utc), local_time(now)) : brief_time(utc, now);
}

std::string shown_zone(const std::string& now)
{
    return shows_local_time() ? zone_at(now) : "UTC";
}

std::string brief_id(const Json& run)
{
    const std::string id = run.text("run_id");
    return id.size() > 8 ? id.substr(id.size() - 8) : id;
}

std::string brief_status(const Json& run)
{
    const std::string status = run.text("status");
    std::vector<std::string> remarks;
    if (!run["deleted_utc"].is_null()) remarks.emplace_back("deleted");
    if (run["end_time_utc"].is_null()) {
        if (run["unreachable"].is_object()) remarks.emplace_back("unreachable");
        if (run.boolean("cancel_requested")) remarks.emplace_back("cancel requested");
    }
    return remarks.empty() ? status : fmt::format("{} ({})", status, join(remarks, ", "));
}

std::string child_runs_text(const Json& run)
{
    constexpr std::size_t most = 5;
    const Json& made = run["child_runs"];
    if (!made.is_array() || made.as_array().empty()) return {};
    const auto& runs = made.as_array();
    std::vector<std::string> parts;
    for (const Json& one : runs) {
        if (parts.size() == most) {
            parts.emplace_back("…");
            break;
        }
        parts.push_back(brief_id(one) + " (" + first_characters(printable(one.text("name")), 40) +
                        ")");
    }
    return join(parts, ", ") + (runs.size() > most ? fmt::format(" ({} in all)", runs.size()) : "");
}

std::string cancel_text(const Json& run)
{
    const std::string id = run.text("run_id");
    if (!run["end_time_utc"].is_null()) return fmt::format("run {} is {}", id, run.text("status"));
    const Json& outage = run["unreachable"];
    if (!outage.is_object()) return fmt::format("run {} is being canceled", id);
    return fmt::format("run {} is not canceled yet: its machine is unreachable since {} ({}); ponk "
                       "cancels the run when the machine is back, unless it has ended by then",
                       id,
                       shown_time(outage.text("since")),
                       printable(outage.text("reason")));
}

namespace {

// A metric whose name is that of a field of the run itself has no field of its own.
std::vector<MetricColumn> metric_columns(const JsonArray& runs)
{
    std::vector<MetricColumn> columns;
    for (std::string& name : common_metrics(runs, most_metric_columns)) {
        const bool clash = std::ranges::any_of(runs, [&name](const Json& run) {
            const Json& value = run["metrics"][name];
            return !value.is_null() && run[name] != value;
        });
        std::string key = clash ? "metrics." + name : name;
        columns.push_back({std::move(name), std::move(key)});
    }
    return columns;
}

// What a column of numbers must have: its values whole, and a title of usual length.
std::size_t least_width(const MetricColumn& metric, const JsonArray& rows)
{
    std::size_t least = std::min<std::size_t>(display_width(printable(metric.key)), 16);
    for (const Json& row : rows)
        least = std::max(
            least, std::min<std::size_t>(display_width(output::cell_text(row[metric.key])), 16));
    return least;
}

}  // namespace

View view_of_runs(const JsonArray& runs, Projects projects)
{
    const auto metrics = metric_columns(runs);
    const bool named =
        std::ranges::any_of(runs, [](const Json& run) { return !run.text("name").empty(); });
    View view;
    const auto right = output::Align::right;
    const auto add = [&view](output::Column column) { view.columns.push_back(std::move(column)); };
    add({.key = "run_id", .title = "run", .min = whole});
    // Numbers count in each project, so its name stands beside them.
    if (projects == Projects::several) add({.key = "project_path", .title = "project", .min = 8});
    add({.key = "run_number", .title = "no", .align = right, .min = whole});
    add({.key = "status", .min = whole});
    add({.key = "exit_code", .title = "exit", .align = right, .min = whole});
    add({.key = "duration", .align = right, .min = whole});
    if (std::ranges::any_of(runs, wants_gpus))
        add({.key = "gpu_verdict", .title = "gpu", .min = whole});
    add({.key = "script_name", .title = "script", .min = 12});
    const std::string now = utc_text(wall_milliseconds());
    add({.key = "start_time_utc",
         .title = fmt::format("start ({})", shown_zone(now)),
         .min = whole});
    if (named) add({.key = "name"});
    add({.key = "target"});
    JsonArray rows;
    JsonArray exact;
    for (const Json& run : runs) {
        rows.push_back(row_of(run, metrics, now));
        if (projects == Projects::several)
            rows.back().as_object().set("project_path", project_word(run, runs));
        exact.push_back(exact_row_of(run, view.columns, metrics));
    }
    for (std::size_t i = 0; i < metrics.size(); ++i)
        add({.key = metrics[i].key, .align = right, .min = least_width(metrics[i], rows)});
    view.rows = std::move(rows);
    view.exact = std::move(exact);
    return view;
}

Json brief_metrics(const Json& metrics)
{
    JsonObject brief;
    if (!metrics.is_object()) return brief;
    for (const auto& [name, value] : metrics.as_object()) {
        const bool list = value.is_array() && !value.as_array().empty();
        const bool long_list = value.is_object();
        if (!list && !long_list) {
            brief.append(name, value);
            continue;
        }
        const Json& last = list ? value.as_array().back() : value["last"];
        const auto count =
            list ? static_cast<std::int64_t>(value.as_array().size()) : value.integer("count");
        brief.append(name, fmt::format("{} (last of {})", output::cell_text(last), count));
    }
    return brief;
}

std::string words_text(const Json& value)
{
    const auto word = [](const Json& one) {
        return one.is_string() ? shell_word(one.as_string()) : output::cell_text(one);
    };
    std::vector<std::string> words;
    if (value.is_array()) {
        for (const Json& one : value.as_array())
            words.push_back(word(one));
    } else if (value.is_object()) {
        for (const auto& [key, one] : value.as_object())
            words.push_back(shell_word(key) + "=" + word(one));
    } else {
        return output::cell_text(value);
    }
    return printable(join(words, " "));
}

Json in_words(const Json& value)
{
    const bool list = value.is_array();
    if (list && value.as_array().empty()) return "none";
    if (value.is_object() && value.as_object().empty()) return "none";
    const auto plain = [](const Json& one) { return !one.is_array() && !one.is_object(); };
    if (list && std::ranges::all_of(value.as_array(), plain)) return words_text(value);
    if (!value.is_object()) return value;
    JsonObject shown;
    for (const auto& [key, member] : value.as_object())
        shown.append(key, in_words(member));
    return shown;
}

namespace {

// A script may log a page; -o json has it whole.
Json with_brief_texts(const Json& value)
{
    constexpr std::size_t most = 200;
    if (!value.is_object()) return value;
    JsonObject brief;
    for (const auto& [name, one] : value.as_object()) {
        const bool is_long = one.is_string() && utf8_length(one.as_string()) > most;
        brief.append(name, is_long ? Json(first_characters(one.as_string(), most) + "…") : one);
    }
    return brief;
}

// A run may have thousands of outputs.
std::string files_text(const std::string& attachments)
{
    constexpr std::size_t most = 20;
    if (attachments.empty()) return {};
    auto names = split(attachments, ',');
    const auto count = names.size();
    if (count <= most) return attachments;
    names.resize(most);
    return fmt::format("{},… ({} files; -o json lists all)", join(names, ","), count);
}

}  // namespace

View view_of_run(const Json& run)
{
    JsonObject rows;
    const auto add = [&](std::string_view key) {
        const Json& value = run[key];
        if (!value.is_null() && !(value.is_string() && value.as_string().empty())) {
            rows.set(std::string(key), value);
        }
    };
    for (const std::string_view key : {"run_id", "run_number", "name", "status", "exit_code"})
        add(key);
    if (const auto signal = run["evidence"].integer("signal");
        signal > 0 && run["exit_code"].is_integer())
        rows.set("exit_code",
                 fmt::format("{} ({})",
                             run.integer("exit_code"),
                             os::signal_name(static_cast<int>(signal))));
    if (run["error"].is_object()) {
        rows.set("error", run["error"].text("message"));
        if (!run["error"].text("hint").empty()) rows.set("hint", run["error"].text("hint"));
    }
    if (const std::string deleted = run.text("deleted_utc"); !deleted.empty())
        rows.set("deleted",
                 fmt::format("by a client, {}; 'ponk history restore {}' restores it",
                             shown_time(deleted),
                             brief_id(run)));
    if (run.boolean("cancel_requested") && run["end_time_utc"].is_null())
        rows.set("cancel_requested", true);
    if (const Json& outage = run["unreachable"]; outage.is_object())
        rows.set("unreachable",
                 fmt::format("the target is unreachable since {}: {}",
                             shown_time(outage.text("since")),
                             outage.text("reason")));
    for (const std::string_view key : {"project_path", "experiment", "script_name"})
        add(key);
    if (const std::string note = run["tags"].text(model::note_tag); !note.empty())
        rows.set("note", note);
    for (const std::string_view key : {"arguments", "params", "tags"}) {
        Json shown = with_brief_texts(run[key]);
        if (shown.is_object()) shown.as_object().erase(model::note_tag);
        const std::string words = words_text(shown);
        if (!words.empty()) rows.set(std::string(key), words);
    }
    for (const std::string_view key : {"target",
                                       "run_configuration",
                                       "framework",
                                       "user",
                                       "host",
                                       "created_utc",
                                       "start_time_utc",
                                       "end_time_utc",
                                       "duration",
                                       "rerun_of",
                                       "parent",
                                       "snapshot"}) {
        add(key);
    }
    if (run["environment"].is_object()) {
        const Json& had = run["environment"];
        if (!had.text("id").empty()) {
            rows.set("environment",
                     fmt::format("{} by {}; {}",
                                 had.text("id").substr(0, 12),
                                 had.text("builder"),
                                 had.text("reason")));
            rows.set("lock", had.text("lock_digest"));
        }
        if (!had.text("version").empty())
            rows.set("python",
                     fmt::format("{} ({}), {} packages",
                                 had.text("version"),
                                 had.text("interpreter").empty() ? had.text("prefix")
                                                                 : had.text("interpreter"),
                                 had.integer("packages")));
        if (const auto choice = run["configuration"]["environment"].text("choice"); !choice.empty())
            rows.set("packages", choice);
        if (!had.text("base_digest").empty()) rows.set("base image", had.text("base_digest"));
        if (!had.text("image").empty()) rows.set("image", had.text("image"));
        if (const auto limit = had.integer("memory_limit"); limit > 0)
            rows.set("memory limit", byte_size_text(static_cast<std::uint64_t>(limit)));
    }
    if (run["git"].is_object()) {
        rows.set("git",
                 fmt::format("{} {}{}",
                             run["git"].text("branch"),
                             run["git"].text("commit").substr(0, 12),
                             run["git"].boolean("dirty") ? " (with changes)" : ""));
    }
    if (run["timings"].is_object()) {
        std::vector<std::string> parts;
        for (const auto& [phase, ms] : run["timings"].as_object()) {
            if (ms.is_integer()) parts.push_back(fmt::format("{} {} ms", phase, ms.as_integer()));
        }
        rows.set("timings", join(parts, ", "));
    }
    if (std::string made = child_runs_text(run); !made.empty())
        rows.set("child_runs", std::move(made));
    add_gpu_rows(run, rows);
    if (std::string files = files_text(run.text("attachments")); !files.empty())
        rows.set("attachments", std::move(files));
    return {.rows = std::move(rows), .columns = {}};
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history/csv_export.hpp"

#include "base/keyed_hash.hpp"
#include "cli/commands/history/point_scanner.hpp"
#include "cli/runs/run_names.hpp"
#include "cli/runs/run_view.hpp"
#include "output/csv.hpp"

#include <array>
#include <optional>
#include <set>

namespace ponk::cli {
namespace {

constexpr std::string_view run_fields[] = {
    "run_id",      "run_number",        "name",         "status",      "exit_code",
    "error",       "project_path",      "experiment",   "script_name", "arguments",
    "target",      "run_configuration", "framework",    "user",        "host",
    "created_utc", "start_time_utc",    "end_time_utc", "duration_ms", "rerun_of",
    "snapshot",    "git.commit",        "git.branch",   "git.dirty",   "environment.id",
    "gpu_verdict"};
constexpr std::size_t piece = std::size_t{64} << 10;

// The families of columns behind the fields.
struct Family {
    std::string_view member;
    std::set<std::string> names = {};
};
using Families = std::array<Family, 3>;

Json field_value(const Json& run, std::string_view field)
{
    if (field == "error") return run["error"]["message"];
    Json value = value_of(run, {Entity::attribute, std::string(field)});
    return value.is_array() ? Json(words_text(value)) : value;
}

void collect(const Json& run, Families& families)
{
    for (Family& family : families) {
        if (!run[family.member].is_object()) continue;
        for (const auto& [name, value] : run[family.member].as_object())
            family.names.insert(name);
    }
}

std::string heading(const Families& families)
{
    JsonArray titles(std::begin(run_fields), std::end(run_fields));
    for (const Family& family : families) {
        for (const std::string& name : family.names)
            titles.emplace_back(std::string(family.member) + "." + name);
    }
    return output::csv_line(titles);
}

std::string line_of(const Json& run, const Families& families, CsvReport& report)
{
    JsonArray values;
    for (const std::string_view field : run_fields)
        values.push_back(field_value(run, field));
    for (const Family& family : families) {
        KeyedMap<const Json*, std::string_view> own;
        if (run[family.member].is_object()) {
            for (const auto& [name, value] : run[family.member].as_object())
                own.emplace(name, &value);
        }
        for (const std::string& name : family.names) {
            const auto found = own.find(name);
            values.push_back(found == own.end() ? Json() : last_of(*found->second));
            if (found != own.end()) own.erase(found);
        }
        report.left_out += own.size();
    }
    report.left_out += static_cast<std::size_t>(run.integer("metrics_left_out"));
    return output::csv_line(values);
}

}  // namespace

Result<CsvReport> export_runs_csv(const EachRun& runs, const Write& write)
{
    Families families{{{"params"}, {"tags"}, {"metrics"}}};
    TRY(runs([&families](const Json& run) -> Result<> {
        collect(run, families);
        return {};
    }));
    CsvReport report;
    TRY(write(heading(families)));
    TRY(runs([&](const Json& run) -> Result<> {
        ++report.runs;
        return write(line_of(run, families, report));
    }));
    return report;
}

std::string points_csv_heading()
{
    return "run_id,key,step,time,value\n";
}

Result<> export_points_csv(Daemon& daemon, const std::string& run_id, const Write& write)
{
    std::string lines;
    PointScanner scanner([&](const std::string& key, const JsonArray& point) -> Result<> {
        lines += output::csv_line({run_id, key, point[0], point[1], point[2]});
        if (lines.size() < piece) return {};
        const auto written = write(lines);
        lines.clear();
        return written;
    });
    std::optional<Error> problem;
    const auto streamed = daemon.stream(
        "/runs/" + run_id + "/metrics",
        [&](std::string_view bytes) {
            const auto fed = scanner.feed(bytes);
            if (!fed) problem = fed.error();
            return fed.has_value();
        },
        answer_limit);
    if (problem) return tl::unexpected(*problem);
    TRY(streamed);
    TRY(scanner.finish());
    return write(lines);
}

}  // namespace ponk::cli

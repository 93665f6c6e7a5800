// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/tracked_run.hpp"

#include "base/work_budget.hpp"
#include "model/run_words.hpp"
#include "store/points/series.hpp"
#include "store/search/own_tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace ponk::store {

namespace {

// CROSS JOIN: in the order of the list, which is that of the answer.
std::string select_tracked()
{
    return fmt::format(
        "SELECT run.row, run.id, run.project, project.location, run.name, run.number,"
        " run.script_name, run.user, run.state, run.started, run.ended, run.deleted, run.origin, {}"
        " FROM json_each(?) AS wanted CROSS JOIN run ON run.row = wanted.value"
        " CROSS JOIN project ON project.row = run.project",
        commit_column);
}
constexpr std::string_view select_tags =
    "SELECT tag.run, tag.key, tag.value FROM json_each(?) AS wanted"
    " CROSS JOIN tag ON tag.run = wanted.value";
constexpr std::string_view select_metrics =
    "SELECT metric.run, metric.key, metric.value, metric.step, metric.time"
    " FROM json_each(?) AS wanted CROSS JOIN metric ON metric.run = wanted.value"
    " WHERE metric.text IS NULL";

constexpr std::size_t most_own_tags = 6;

// What clients look for on every run, where nobody has said otherwise.
void add_own_tags(const db::Statement& row, TrackedRun& run)
{
    run.tags.emplace_back(run_name_tag, run.name);
    if (row.text(12) != "engine") return;
    run.tags.emplace_back("mlflow.user", run.user);
    run.tags.emplace_back("mlflow.source.name", row.text(6));
    run.tags.emplace_back("mlflow.source.type", "LOCAL");
    if (const auto commit = row.text_if_any(13))
        run.tags.emplace_back("mlflow.source.git.commit", *commit);
    // FAILED says less than is known.
    if (run.state == model::RunState::lost) run.tags.emplace_back("ponk.state", "Lost");
}

Result<TrackedRun> read_row(const db::Statement& row)
{
    TrackedRun run;
    run.row = row.integer(0);
    run.id = TRY(RunId::parse(row.text(1)));
    run.experiment = row.integer(2);
    run.location = row.text(3);
    run.name = row.text(4);
    if (run.name.empty()) run.name = fmt::format("{}-{}", row.text(6), row.integer(5));
    run.user = row.text(7);
    const auto state = model::parse_run_state(row.text(8));
    if (!state) {
        return fail(
            ErrorKind::damaged, "run '{}' has the unknown state '{}'", run.id.text(), row.text(8));
    }
    run.state = *state;
    run.started = row.integer(9);
    run.ended = row.integer(10);
    run.deleted = row.integer(11) != 0;
    add_own_tags(row, run);
    return run;
}

// Calls `take(run)` for each row, whose first column is that of a run of the list, until it says
// no.
template <class Take>
Result<bool> for_each_of(std::vector<TrackedRun>& runs, db::Statement& statement, const Take& take)
{
    std::size_t at = 0;
    while (TRY(statement.step())) {
        const auto row = statement.integer(0);
        while (at < runs.size() && runs[at].row != row)
            ++at;
        if (at == runs.size()) return fail(ErrorKind::internal, "rows of runs out of order");
        if (!TRY(take(runs[at]))) return false;
    }
    return true;
}

// False when several have too much.
Result<bool> add_tags(db::Connection& connection,
                      const std::string& rows,
                      std::vector<TrackedRun>& runs,
                      std::size_t most)
{
    auto statement = TRY(connection.prepare(select_tags));
    statement.bind(rows);
    std::size_t bytes = 0;
    return for_each_of(runs, statement, [&](TrackedRun& run) -> Result<bool> {
        auto key = statement.text(1);
        auto value = statement.text(2);
        const auto size = key.size() + value.size();
        bytes += size;
        if (runs.size() == 1) TRY(charge_answer(size));
        if (runs.size() > 1 && bytes > most) return false;
        if (key.starts_with(model::parameter_prefix)) {
            run.params.emplace_back(key.substr(model::parameter_prefix.size()), std::move(value));
            return true;
        }
        const auto shown = model::shown_tag(key);
        // Only those that every run has can be there already; they are the first.
        const auto end = run.tags.begin() +
                         static_cast<std::ptrdiff_t>(std::min(run.tags.size(), most_own_tags));
        const auto known = std::find_if(
            run.tags.begin(), end, [&](const auto& tag) { return tag.first == shown; });
        if (known == end) {
            run.tags.emplace_back(shown, std::move(value));
        } else if (shown != run_name_tag) {
            known->second = std::move(value);
        }
        return true;
    });
}

Result<>
add_metrics(db::Connection& connection, const std::string& rows, std::vector<TrackedRun>& runs)
{
    auto statement = TRY(connection.prepare(select_metrics));
    statement.bind(rows);
    TRY(for_each_of(runs, statement, [&statement](TrackedRun& run) -> Result<bool> {
        run.metrics.push_back({.key = statement.text(1),
                               .value = statement.is_null(2)
                                            ? std::numeric_limits<double>::quiet_NaN()
                                            : statement.real(2),
                               .text = std::nullopt,
                               .step = statement.integer(3),
                               .time = statement.integer(4)});
        return true;
    }));
    return {};
}

// Metrics stay in the order of their keys.
Result<> add_tail(db::Connection& connection, const TailReader& tail, TrackedRun& run)
{
    const auto points = TRY(tail.points(connection, run.row));
    if (points.empty()) return {};
    std::map<std::string, model::MetricPoint> metrics;
    for (auto& metric : run.metrics)
        metrics.emplace(metric.key, std::move(metric));
    for (const auto& key : points.keys()) {
        auto latest = TRY(grow_key(connection, run.row, key)).latest.point;
        if (latest.text) {
            metrics.erase(key.key);
        } else {
            latest.form = model::MetricPoint::Form::single;
            metrics.insert_or_assign(key.key, std::move(latest));
        }
    }
    run.metrics.clear();
    for (auto& [key, metric] : metrics)
        run.metrics.push_back(std::move(metric));
    return {};
}

Result<> add_inputs(db::Connection& connection,
                    const std::vector<std::int64_t>& rows,
                    std::vector<TrackedRun>& runs)
{
    auto inputs = TRY(read_run_inputs(connection, rows));
    for (auto& run : runs) {
        if (const auto found = inputs.find(run.row); found != inputs.end())
            run.inputs = std::move(found->second);
    }
    return {};
}

}  // namespace

Result<std::optional<std::vector<TrackedRun>>>
read_tracked_runs(db::Connection& connection,
                  const TailReader& tail,
                  const std::vector<std::int64_t>& rows,
                  std::size_t most)
{
    const auto list = fmt::format("[{}]", fmt::join(rows, ","));
    std::vector<TrackedRun> runs;
    runs.reserve(rows.size());
    {
        auto statement = TRY(connection.prepare(select_tracked()));
        statement.bind(list);
        while (TRY(statement.step()))
            runs.push_back(TRY(read_row(statement)));
    }
    if (!TRY(add_tags(connection, list, runs, most)))
        return std::optional<std::vector<TrackedRun>>();
    TRY(add_metrics(connection, list, runs));
    for (auto& run : runs)
        TRY(add_tail(connection, tail, run));
    TRY(add_inputs(connection, rows, runs));
    for (auto& run : runs)
        std::sort(run.tags.begin(), run.tags.end());
    return std::optional(std::move(runs));
}

std::string artifact_uri(const TrackedRun& run)
{
    return below_location(artifact_location(run.experiment, run.location),
                          run.id.text() + "/artifacts");
}

}  // namespace ponk::store

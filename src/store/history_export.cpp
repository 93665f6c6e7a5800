// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "base/time.hpp"
#include "store/event_row.hpp"
#include "store/history.hpp"
#include "store/history_impl.hpp"
#include "store/metric_row.hpp"
#include "store/run_filter.hpp"
#include "store/run_json.hpp"
#include "store/run_row.hpp"

#include <limits>

namespace ponk::store {

namespace {

constexpr auto everything = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
constexpr std::size_t runs_at_a_time = 200;

Json value_json(const model::MetricPoint& point)
{
    return point.text ? Json(*point.text) : Json(point.value);
}

Result<Json> metrics_json(db::Connection& reader, std::int64_t run)
{
    JsonObject metrics;
    for (const auto& latest : TRY(read_latest(reader, run))) {
        JsonArray points;
        for (const auto& point : TRY(read_series(reader, run, latest.point.key)))
            points.emplace_back(JsonArray{point.step, point.time, value_json(point)});
        metrics.append(latest.point.key,
                       JsonObject{{"latest", value_json(latest.point)},
                                  {"count", latest.count},
                                  {"points", std::move(points)}});
    }
    return Json(std::move(metrics));
}

Result<Json> events_json(db::Connection& reader, std::int64_t run)
{
    JsonArray events;
    for (const auto& event : TRY(read_events(reader, run, 0, everything))) {
        events.emplace_back(JsonObject{{"seq", event.number},
                                       {"time", utc_text(event.time)},
                                       {"kind", event.kind},
                                       {"text", event.text}});
    }
    return Json(std::move(events));
}

Result<std::string> line_for(db::Connection& reader, const StoredRun& stored)
{
    Json line = JsonObject{{"run", run_json(stored.run)}};
    line.as_object().append("metrics", TRY(metrics_json(reader, stored.row)));
    line.as_object().append("events", TRY(events_json(reader, stored.row)));
    return to_json(line);
}

// nullopt when it was deleted meanwhile.
Result<std::optional<std::string>> line_if_there(db::Connection& reader, const RunId& id)
{
    const auto stored = TRY(find_stored_run(reader, id));
    if (!stored) return std::optional<std::string>();
    return std::optional(TRY(line_for(reader, *stored)));
}

}  // namespace

Result<> History::export_lines(const RunFilter& filter, const OnLine& line) const
{
    // Ids first, then each run in a read of its own: one long read would keep the write-ahead log
    // from being emptied.
    auto rest = filter;
    rest.limit = runs_at_a_time;
    std::vector<RunId> ids;
    for (;;) {
        const auto page = TRY(list_runs(rest));
        for (const auto& run : page.runs)
            ids.push_back(run.id);
        if (!page.next) break;
        rest.before = page.next;
    }
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
        const auto text = TRY(impl_->database->read(
            [&id](db::Connection& reader) { return line_if_there(reader, *id); }));
        if (text) TRY(line(*text));
    }
    return {};
}

}  // namespace ponk::store

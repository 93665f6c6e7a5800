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

// As text at once: points in memory as values would take ten times the room.
Result<std::string> metrics_text(db::Connection& reader, std::int64_t run)
{
    std::string text;
    for (const auto& latest : TRY(read_latest(reader, run))) {
        text += fmt::format("{}{}:{{\"latest\":{},\"count\":{},\"points\":[",
                            text.empty() ? "" : ",",
                            to_json(latest.point.key),
                            to_json(value_json(latest.point)),
                            latest.count);
        bool first = true;
        TRY(read_points(reader, run, latest.point.key, {}, [&](const model::MetricPoint& point) {
            text += fmt::format("{}[{},{},{}]",
                                first ? "" : ",",
                                point.step,
                                point.time,
                                to_json(value_json(point)));
            first = false;
        }));
        text += "]}";
    }
    return "{" + text + "}";
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
    return fmt::format("{{\"run\":{},\"metrics\":{},\"events\":{}}}",
                       to_json(run_json(stored.run)),
                       TRY(metrics_text(reader, stored.row)),
                       to_json(TRY(events_json(reader, stored.row))));
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
        TRY(impl_->settle(*id));
        const auto text = TRY(impl_->database->read(
            [&id](db::Connection& reader) { return line_if_there(reader, *id); }));
        if (text) TRY(line(*text));
    }
    return {};
}

}  // namespace ponk::store

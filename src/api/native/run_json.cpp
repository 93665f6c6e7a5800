// SPDX-License-Identifier: Apache-2.0
#include "api/native/run_json.hpp"

#include "base/time.hpp"
#include "engine/files/artifacts.hpp"
#include "model/run_fields.hpp"
#include "model/run_state.hpp"
#include "model/run_words.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ponk::api {

namespace {

constexpr std::size_t most_metrics_shown = 10'000;
constexpr std::size_t most_metrics_in_list = 1000;
constexpr std::size_t most_child_runs_shown = 100;

void add_duration(JsonObject& object, const model::Run& run)
{
    // What came from elsewhere may have ended nobody knows when.
    const bool measured = run.timings.contains("run");
    if (run.started == 0 || (model::is_terminal(run.state) && run.ended == 0 && !measured)) {
        object.set("duration", Json());
        object.set("duration_ms", Json());
        return;
    }
    // The supervisor measured it by a clock that does not jump.
    std::int64_t span = 0;
    if (const auto found = run.timings.find("run"); found != run.timings.end()) {
        span = found->second;
    } else {
        span = std::max<std::int64_t>(
            0, (run.ended != 0 ? run.ended : wall_milliseconds()) - run.started);
    }
    object.set("duration", duration_text(span));
    object.set("duration_ms", span);
}

}  // namespace

Json metric_value(const model::MetricPoint& point)
{
    return point.text ? Json(*point.text) : Json(point.value);
}

namespace {

// A list is shown as one, as it was logged; a very long one by its length and last value.
Json shown_value(const store::LatestMetric& metric)
{
    if (metric.point.form == model::MetricPoint::Form::single) return metric_value(metric.point);
    if (metric.list.empty())
        return JsonObject{{"count", metric.count}, {"last", metric_value(metric.point)}};
    JsonArray values;
    for (const auto& point : metric.list)
        values.push_back(metric_value(point));
    return values;
}

}  // namespace

Json run_json(const model::Run& run,
              const std::vector<store::LatestMetric>& metrics,
              const std::string& experiment)
{
    auto object = model::write_run(run, model::RunForm::api);
    object.set("experiment", experiment);
    object.set("experiment_id", run.script_name);
    add_duration(object, run);
    if (run.deleted != 0) object.set("deleted_utc", utc_text(run.deleted));
    if (run.imported != 0) object.set("imported_utc", utc_text(run.imported));
    // Keys differ from each other: only our own fields, a few, are compared with each.
    JsonObject fields = object;
    JsonObject values;
    for (const auto& metric : metrics) {
        const auto& key = metric.point.key;
        auto value = shown_value(metric);
        if (!object.find(key) && key != "metrics" && key != "metrics_left_out")
            fields.append(key, value);
        values.append(key, std::move(value));
    }
    fields.append("metrics", std::move(values));
    return fields;
}

namespace {

// Adds those of `names` that the run has and that are not among `metrics` yet.
Result<> add_named_metrics(const Services& services,
                           const model::Run& run,
                           const std::vector<std::string>& names,
                           std::vector<store::LatestMetric>& metrics)
{
    std::set<std::string, std::less<>> known;
    for (const auto& metric : metrics)
        known.insert(metric.point.key);
    for (const auto& name : names) {
        if (!known.insert(name).second) continue;
        if (auto found = TRY(services.history().find_metric(run.id, name)))
            metrics.push_back(std::move(*found));
    }
    return {};
}

Result<Json> with_metrics(const Services& services,
                          const model::Run& run,
                          const std::string& experiment,
                          std::size_t most_metrics,
                          const std::vector<std::string>& names = {})
{
    auto metrics = TRY(services.history().latest_metrics(run.id, {.limit = most_metrics}));
    const bool may_be_more = metrics.size() == most_metrics;
    if (may_be_more) TRY(add_named_metrics(services, run, names, metrics));
    std::ranges::stable_sort(metrics, {}, &store::LatestMetric::place);
    auto json = run_json(run, metrics, experiment);
    if (const auto outage = services.engine.outage(run.id)) {
        json.as_object().set(
            "unreachable",
            JsonObject{{"since", utc_text(outage->since)}, {"reason", outage->reason}});
    }
    if (may_be_more) {
        const auto all = TRY(services.history().count_metrics(run.id));
        const auto shown = static_cast<std::int64_t>(metrics.size());
        if (all > shown) json.as_object().append("metrics_left_out", all - shown);
    }
    return json;
}

// The newest runs that its script made by MLflow's API.
Result<JsonArray> child_runs_json(const Services& services, const model::Run& run)
{
    store::RunFilter filter;
    filter.parent = run.id.text();
    filter.limit = most_child_runs_shown;
    JsonArray made;
    for (const auto& one : TRY(services.history().list_runs(filter)).runs)
        made.emplace_back(JsonObject{{"run_id", one.id.text()},
                                     {"name", one.name},
                                     {"status", model::to_string(one.state)}});
    return made;
}

}  // namespace

Result<Json> run_json(const Services& services, const model::Run& run)
{
    const auto experiment = TRY(services.history().experiment_name(run.project));
    auto json = TRY(with_metrics(services, run, experiment, most_metrics_shown));
    auto made = TRY(child_runs_json(services, run));
    if (!made.empty()) json.as_object().set("child_runs", std::move(made));
    return json;
}

Result<Json> runs_json(const Services& services,
                       const std::vector<model::Run>& runs,
                       const std::vector<std::string>& metrics)
{
    JsonArray list;
    std::map<std::string, std::string> experiments;
    for (const auto& run : runs) {
        const auto [experiment, is_new] = experiments.try_emplace(run.project);
        if (is_new) experiment->second = TRY(services.history().experiment_name(run.project));
        list.push_back(
            TRY(with_metrics(services, run, experiment->second, most_metrics_in_list, metrics)));
    }
    return Json(std::move(list));
}

}  // namespace ponk::api

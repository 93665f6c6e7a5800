// SPDX-License-Identifier: Apache-2.0
#include "relay/logged.hpp"

#include "base/time.hpp"
#include "model/changed_param.hpp"

#include <fmt/format.h>

namespace ponk::relay {

namespace {

void add(JsonObject& record, const char* name, const std::string& value)
{
    if (!value.empty()) record.append(name, value);
}

}  // namespace

Result<JsonArray> records_of(const LoggedBatch& batch, const TrackedRun& run, JsonObject about)
{
    JsonArray records;
    const auto now = wall_milliseconds();
    for (const auto& [key, value] : batch.params) {
        const auto known = run.params.find(key);
        if (known != run.params.end() && known->second == value) continue;
        if (known != run.params.end()) {
            return tl::unexpected(model::changed_param(
                key, known->second, fmt::format("run ID='{}'", run.id), value));
        }
        auto record = about;
        record.append("param", key);
        record.append("value", value);
        record.append("time", now);
        records.emplace_back(std::move(record));
    }
    for (const auto& metric : batch.metrics) {
        // The answer to the first one did not reach its sender.
        const Point point{.value = metric.value, .time = metric.time, .step = metric.step};
        const Subject subject{metric.model_id, metric.dataset_name, metric.dataset_digest};
        const auto known = run.metrics.find(metric.key);
        if (known != run.metrics.end() && is_same(known->second.last, point) &&
            known->second.last_subject == subject)
            continue;
        auto record = about;
        record.append("metric", metric.key);
        record.append("value", metric.value);
        record.append("step", metric.step);
        record.append("time", metric.time);
        add(record, "model_id", metric.model_id);
        add(record, "dataset_name", metric.dataset_name);
        add(record, "dataset_digest", metric.dataset_digest);
        records.emplace_back(std::move(record));
    }
    for (const auto& [key, value] : batch.tags) {
        auto record = about;
        record.append("tag", key);
        record.append("value", value);
        record.append("time", now);
        records.emplace_back(std::move(record));
    }
    return records;
}

}  // namespace ponk::relay

// SPDX-License-Identifier: Apache-2.0
#include "relay/logged.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "mlflow/names.hpp"

#include <fmt/format.h>

namespace ponk::relay {

namespace {

namespace limits = mlflow::limits;

template <class T>
Result<std::vector<T>>
each(const Fields& fields, std::string_view name, Result<T> (*read)(const Fields&))
{
    std::vector<T> all;
    for (const auto& entry : TRY(fields.objects(name)))
        all.push_back(TRY(read(entry)));
    return all;
}

void add(JsonObject& record, const char* name, const std::string& value)
{
    if (!value.empty()) record.append(name, value);
}

}  // namespace

Result<LoggedMetric> metric_of(const Fields& fields)
{
    LoggedMetric metric;
    metric.key = TRY(mlflow::key_of(fields, "key", "Metric name"));
    metric.point.value = mlflow::clamped(TRY(fields.number("value")));
    metric.point.time = TRY(fields.integer("timestamp"));
    if (metric.point.time < 0) return tl::unexpected(fields.invalid("timestamp"));
    metric.point.step = TRY(fields.find_integer("step")).value_or(0);
    auto& subject = metric.subject;
    subject.model = TRY(fields.find_text("model_id")).value_or("");
    subject.dataset_name = TRY(fields.find_text("dataset_name")).value_or("");
    subject.dataset_digest = TRY(fields.find_text("dataset_digest")).value_or("");
    TRY(mlflow::check_length("model_id", subject.model, limits::key));
    TRY(mlflow::check_dataset(subject.dataset_name, subject.dataset_digest));
    return metric;
}

Result<Logged> param_of(const Fields& fields)
{
    auto key = TRY(mlflow::key_of(fields, "key", "Param key"));
    auto value = TRY(fields.find_text("value")).value_or("");
    return Logged(std::move(key), first_characters(std::move(value), limits::param_value));
}

Result<Logged> tag_of(const Fields& fields)
{
    auto key = TRY(mlflow::key_of(fields, "key", "key"));
    auto value = TRY(fields.find_text("value")).value_or("");
    return Logged(std::move(key), first_characters(std::move(value), limits::tag_value));
}

Result<LoggedBatch> batch_of(const Fields& fields)
{
    // Counted before they are read: a list of a million is not worth that.
    TRY(mlflow::check_batch(TRY(fields.objects("metrics")).size(),
                            TRY(fields.objects("params")).size(),
                            TRY(fields.objects("tags")).size()));
    LoggedBatch batch;
    batch.metrics = TRY(each(fields, "metrics", metric_of));
    batch.params = TRY(each(fields, "params", param_of));
    batch.tags = TRY(each(fields, "tags", tag_of));
    TRY(mlflow::check_twins(batch.params));
    return batch;
}

Result<JsonArray> records_of(const LoggedBatch& batch, const TrackedRun& run, JsonObject about)
{
    JsonArray records;
    const auto now = wall_milliseconds();
    for (const auto& [key, value] : batch.params) {
        const auto known = run.params.find(key);
        if (known != run.params.end() && known->second == value) continue;
        if (known != run.params.end()) {
            return tl::unexpected(mlflow::changed_param(
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
        const auto known = run.metrics.find(metric.key);
        if (known != run.metrics.end() && is_same(known->second.last, metric.point) &&
            known->second.last_subject == metric.subject)
            continue;
        auto record = about;
        record.append("metric", metric.key);
        record.append("value", metric.point.value);
        record.append("step", metric.point.step);
        record.append("time", metric.point.time);
        add(record, "model_id", metric.subject.model);
        add(record, "dataset_name", metric.subject.dataset_name);
        add(record, "dataset_digest", metric.subject.dataset_digest);
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

// SPDX-License-Identifier: Apache-2.0
#include "mlflow/logged.hpp"

#include "base/text.hpp"
#include "mlflow/names.hpp"

namespace ponk::mlflow {

namespace {

template <class T>
Result<std::vector<T>>
each(const Fields& fields, std::string_view list, Result<T> (*read)(const Fields&))
{
    std::vector<T> all;
    for (const auto& entry : TRY(fields.objects(list)))
        all.push_back(TRY(read(entry)));
    return all;
}

Result<LoggedText> text_of(const Fields& fields, std::string_view what, std::size_t longest)
{
    auto key = TRY(key_of(fields, "key", what));
    auto value = TRY(fields.find_text("value")).value_or("");
    return LoggedText(std::move(key), first_characters(std::move(value), longest));
}

// Without reading its elements: a list of a million is not worth that.
std::size_t count_of(const Fields& fields, std::string_view name)
{
    const auto& list = fields.json()[name];
    return list.is_array() ? list.as_array().size() : 0;
}

}  // namespace

Result<LoggedMetric> metric_of(const Fields& fields)
{
    LoggedMetric metric;
    metric.key = TRY(key_of(fields, "key", "Metric name"));
    metric.value = clamped(TRY(fields.number("value")));
    metric.time = TRY(fields.integer("timestamp"));
    if (metric.time < 0) {
        return tl::unexpected(
            fields.invalid("timestamp", "it counts milliseconds since 1970, from 0 on"));
    }
    metric.step = TRY(fields.find_integer("step")).value_or(0);
    metric.model_id = TRY(fields.find_text("model_id")).value_or("");
    metric.dataset_name = TRY(fields.find_text("dataset_name")).value_or("");
    metric.dataset_digest = TRY(fields.find_text("dataset_digest")).value_or("");
    TRY(check_length("model_id", metric.model_id, limits::key));
    TRY(check_dataset(metric.dataset_name, metric.dataset_digest));
    return metric;
}

Result<LoggedText> param_of(const Fields& fields)
{
    return text_of(fields, "Param key", limits::param_value);
}

Result<LoggedText> tag_of(const Fields& fields)
{
    return text_of(fields, "key", limits::tag_value);
}

Result<LoggedTexts> params_of(const Fields& fields)
{
    auto params = TRY(each(fields, "params", param_of));
    TRY(check_twins(params));
    return params;
}

Result<LoggedTexts> tags_of(const Fields& fields)
{
    return each(fields, "tags", tag_of);
}

Result<LoggedBatch> batch_of(const Fields& fields)
{
    TRY(check_batch(
        count_of(fields, "metrics"), count_of(fields, "params"), count_of(fields, "tags")));
    LoggedBatch batch;
    batch.metrics = TRY(each(fields, "metrics", metric_of));
    batch.params = TRY(params_of(fields));
    batch.tags = TRY(tags_of(fields));
    return batch;
}

}  // namespace ponk::mlflow

// SPDX-License-Identifier: Apache-2.0
#include "engine/tracked/child_models.hpp"

#include "engine/tracked/child_of.hpp"
#include "model/metric_journal.hpp"
#include "store/tracking/tracking.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

// "m-" and 32 digits, as relays make them: it is part of the place of the model's files.
bool is_model_id(const std::string& id)
{
    return id.size() == 34 && id.starts_with("m-") &&
           std::all_of(id.begin() + 2, id.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

bool is_status(const std::string& status)
{
    return status == store::model_pending || status == "LOGGED_MODEL_READY" ||
           status == "LOGGED_MODEL_UPLOAD_FAILED";
}

store::Pairs pairs_of(const Json& object)
{
    store::Pairs pairs;
    if (!object.is_object()) return pairs;
    for (const auto& [key, value] : object.as_object()) {
        if (value.is_string() && key != parent_tag) pairs.emplace_back(key, value.as_string());
    }
    return pairs;
}

std::optional<std::string> find_text(const Json& record, const char* name)
{
    const auto& value = record[name];
    return value.is_string() ? std::optional(value.as_string()) : std::nullopt;
}

}  // namespace

Result<> MadeModels::take(const Json& record)
{
    const auto id = record.text("model");
    if (!is_model_id(id)) return {};
    if (record["name"].is_string()) return make(id, record);
    const auto known = store::Models(context_.history).get(id);
    if (!known) return forgive(known);
    return parent_of(known->tags) == maker_.text() ? change(id, record) : Result<>();
}

// A model comes from the run that made it or from one that this run made, whatever it says.
std::string MadeModels::source_of(const Json& record) const
{
    auto run = record.text("run");
    if (run.empty() || run == maker_.text()) return run;
    const auto known = store::Tracking(context_.history).get_run(run);
    return known && parent_of(known->tags) == maker_.text() ? run : maker_.text();
}

Result<> MadeModels::make(const std::string& id, const Json& record)
{
    const auto own = TRY(store::Tracking(context_.history).get_run(maker_.text()));
    auto tags = pairs_of(record["tags"]);
    tags.push_back(child_of(maker_));
    return forgive(store::Models(context_.history)
                       .create({.experiment = own.experiment,
                                .name = record.text("name"),
                                .type = record.text("type"),
                                .source_run = source_of(record),
                                .params = pairs_of(record["params"]),
                                .tags = std::move(tags),
                                .id = id,
                                .created = record.integer("time")}));
}

Result<> MadeModels::change(const std::string& id, const Json& record)
{
    store::Models models(context_.history);
    if (const auto status = record.text("status"); is_status(status))
        TRY(forgive(models.set_status(id, status)));
    if (const auto params = pairs_of(record["params"]); !params.empty())
        TRY(forgive(models.log_params(id, params)));
    if (const auto tags = pairs_of(record["tags"]); !tags.empty())
        TRY(forgive(models.set_tags(id, tags)));
    if (const auto key = record.text("untag"); !key.empty() && key != parent_tag)
        TRY(forgive(models.remove_tag(id, key)));
    if (record.boolean("deleted")) TRY(forgive(models.remove(id)));
    return {};
}

std::optional<store::ModelMetric> MadeModels::metric_of(const Json& record)
{
    const auto value = model::journal_number(record["value"]);
    if (!value || record.text("metric").empty()) return std::nullopt;
    return store::ModelMetric{.model = record.text("model_id"),
                              .key = record.text("metric"),
                              .value = *value,
                              .time = record.integer("time"),
                              .step = record.integer("step"),
                              .dataset_name = find_text(record, "dataset_name"),
                              .dataset_digest = find_text(record, "dataset_digest")};
}

Result<> MadeModels::log_metrics(const std::string& run,
                                 const std::vector<store::ModelMetric>& metrics)
{
    store::Models models(context_.history);
    const auto all = models.log_metrics(run, metrics, store::Into::any);
    if (all || !is_their_fault(all.error()) || metrics.size() == 1) return forgive(all);
    // One that cannot be stored takes no other along.
    for (const auto& metric : metrics)
        TRY(forgive(models.log_metrics(run, {metric}, store::Into::any)));
    return {};
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "query/search/grammar.hpp"

#include "model/run_state.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace ponk::query::search {

namespace {

using enum Operator;

constexpr Operators numeric = just(equal) | just(not_equal) | just(greater) | just(greater_equal) |
                              just(less) | just(less_equal);
constexpr Operators textual = just(equal) | just(not_equal) | just(like) | just(ilike);
constexpr Operators listed = just(in) | just(not_in);
constexpr Operators presence = just(is_null) | just(is_not_null);
constexpr Operators only_order = 0;

constexpr std::string_view attribute_words[] = {"attributes", "attribute", "attr"};
constexpr std::string_view run_words[] = {"attributes", "attribute", "attr", "run"};
constexpr std::string_view metric_words[] = {"metrics", "metric"};
constexpr std::string_view param_words[] = {"params", "param", "parameters", "parameter"};
constexpr std::string_view tag_words[] = {"tags", "tag"};
constexpr std::string_view dataset_words[] = {"datasets", "dataset"};

constexpr Family metrics{
    .entity = Entity::metric,
    .words = metric_words,
    .any = {.type = ValueType::number, .operators = numeric},
};
constexpr std::string_view lowest_words[] = {"min"};
constexpr std::string_view highest_words[] = {"max"};
constexpr std::string_view best_words[] = {"best"};
constexpr Key ordered_number{.type = ValueType::number, .operators = only_order};
constexpr Family lowest{.entity = Entity::lowest, .words = lowest_words, .any = ordered_number};
constexpr Family highest{.entity = Entity::highest, .words = highest_words, .any = ordered_number};
constexpr Family best{.entity = Entity::best, .words = best_words, .any = ordered_number};

constexpr Family params{
    .entity = Entity::param,
    .words = param_words,
    .any = {.operators = textual | presence},
};
constexpr Family tags{
    .entity = Entity::tag,
    .words = tag_words,
    .any = {.operators = textual | presence},
};

// Runs ---------------------------------------------------------------------------------------

constexpr std::string_view created[] = {"created", "Created"};
constexpr std::string_view run_name[] = {"run name", "Run name", "Run Name"};
constexpr Key run_id_key{.name = "run_id", .operators = textual | listed};
constexpr Key run_name_key{.name = "run_name", .operators = textual, .filter_aliases = run_name};
constexpr Key user_key{.name = "user_id", .operators = textual};
constexpr Key artifact_key{.name = "artifact_uri", .operators = textual};
constexpr Key start_key{
    .name = "start_time", .type = ValueType::number, .operators = numeric, .aliases = created};
constexpr Key end_key{.name = "end_time", .type = ValueType::number, .operators = numeric};

constexpr Key run_keys[] = {run_id_key,
                            run_name_key,
                            {.name = "status", .operators = textual},
                            user_key,
                            artifact_key,
                            start_key,
                            end_key,
                            // Ours: of several experiments, the runs that a script put into one.
                            {.name = "experiment", .operators = textual, .order = Key::Order::no}};
constexpr Key dataset_keys[] = {
    {.name = "name", .operators = textual | listed, .order = Key::Order::no},
    {.name = "digest", .operators = textual | listed, .order = Key::Order::no},
    {.name = "context", .operators = textual | listed, .order = Key::Order::no},
};
constexpr Family datasets{.entity = Entity::dataset, .words = dataset_words, .keys = dataset_keys};
constexpr Family run_families[] = {
    {.entity = Entity::attribute, .words = run_words, .keys = run_keys},
    metrics,
    params,
    tags,
    datasets};

// MLflow's words, and ours.
constexpr auto states = [] {
    std::array<std::string_view,
               std::size(model::mlflow_statuses) + std::size(model::run_state_words)>
        all;
    const auto ours = std::ranges::copy(model::mlflow_statuses, all.begin()).out;
    std::ranges::copy(model::run_state_words, ours);
    return all;
}();
constexpr std::string_view name_alias[] = {"name"};
constexpr std::string_view user_alias[] = {"user"};
constexpr std::string_view script_alias[] = {"script_name"};
constexpr std::string_view history_start[] = {"created", "Created", "start_time_utc"};
constexpr std::string_view history_end[] = {"end_time_utc"};
constexpr Key history_keys[] = {
    run_id_key,
    {.name = "run_name", .operators = textual, .aliases = name_alias, .filter_aliases = run_name},
    {.name = "status", .operators = textual, .values = states},
    {.name = "user_id", .operators = textual, .aliases = user_alias},
    artifact_key,
    {.name = "start_time", .type = ValueType::time, .operators = numeric, .aliases = history_start},
    {.name = "end_time", .type = ValueType::time, .operators = numeric, .aliases = history_end},
    {.name = "script", .operators = textual, .aliases = script_alias},
    {.name = "target", .operators = textual},
    {.name = "experiment", .operators = textual | listed},
};
constexpr Family history_families[] = {
    {.entity = Entity::attribute, .words = run_words, .keys = history_keys},
    metrics,
    lowest,
    highest,
    best,
    params,
    tags,
    datasets};

// Experiments --------------------------------------------------------------------------------

constexpr std::string_view experiment_words[] = {"attribute"};
constexpr Key experiment_keys[] = {
    {.name = "name", .operators = textual},
    {.name = "creation_time", .type = ValueType::number, .operators = numeric},
    {.name = "last_update_time", .type = ValueType::number, .operators = numeric},
    {.name = "experiment_id", .operators = just(equal) | just(not_equal) | listed},
};
constexpr Family filter_tags{
    .entity = Entity::tag,
    .words = tag_words,
    .any = {.operators = textual | presence, .order = Key::Order::no},
};
constexpr Family experiment_families[] = {
    {.entity = Entity::attribute, .words = experiment_words, .keys = experiment_keys}, filter_tags};

// Logged models ------------------------------------------------------------------------------

constexpr std::string_view creation_aliases[] = {"creation_timestamp", "creation_time"};
constexpr std::string_view update_aliases[] = {"last_updated_timestamp", "last_updated_time"};
constexpr Key logged_model_keys[] = {
    {.name = "name", .operators = textual | listed},
    {.name = "model_id", .operators = textual | listed},
    {.name = "model_type", .operators = textual | listed},
    {.name = "status", .operators = textual | listed},
    {.name = "source_run_id", .operators = textual | listed},
    {.name = "experiment_id", .operators = textual | listed},
    {.name = "artifact_location", .operators = textual | listed},
    {.name = "creation_timestamp_ms",
     .type = ValueType::number,
     .operators = numeric,
     .aliases = creation_aliases},
    {.name = "last_updated_timestamp_ms",
     .type = ValueType::number,
     .operators = numeric,
     .aliases = update_aliases},
};
constexpr Family logged_model_families[] = {
    {.entity = Entity::attribute, .words = attribute_words, .keys = logged_model_keys},
    metrics,
    {.entity = Entity::param,
     .words = param_words,
     .any = {.operators = textual | listed, .order = Key::Order::no}},
    {.entity = Entity::tag,
     .words = tag_words,
     .any = {.operators = textual | listed, .order = Key::Order::no}},
};

// Registry -----------------------------------------------------------------------------------

constexpr std::string_view timestamp_alias[] = {"timestamp"};
constexpr Key created_order{
    .name = "creation_timestamp", .type = ValueType::number, .operators = only_order};
constexpr Key updated_order{.name = "last_updated_timestamp",
                            .type = ValueType::number,
                            .operators = only_order,
                            .aliases = timestamp_alias};
constexpr Family registry_tags{
    .entity = Entity::tag,
    .words = tag_words,
    .any = {.operators = textual, .order = Key::Order::no},
};
constexpr Key registered_model_keys[] = {
    {.name = "name", .operators = textual | listed}, created_order, updated_order};
constexpr Family registered_model_families[] = {
    {.entity = Entity::attribute, .words = attribute_words, .keys = registered_model_keys},
    registry_tags};

constexpr Key model_version_keys[] = {
    {.name = "name", .operators = textual | listed},
    {.name = "version_number", .type = ValueType::number, .operators = numeric},
    {.name = "run_id", .operators = textual | listed, .order = Key::Order::no},
    {.name = "source_path", .operators = textual, .order = Key::Order::no},
    created_order,
    updated_order,
};
constexpr Family model_version_families[] = {
    {.entity = Entity::attribute, .words = attribute_words, .keys = model_version_keys},
    registry_tags};

// Traces -------------------------------------------------------------------------------------

constexpr std::string_view trace_words[] = {"attributes", "attribute", "attr", "trace"};
constexpr std::string_view span_words[] = {"span"};
constexpr std::string_view feedback_words[] = {"feedback"};
constexpr std::string_view expectation_words[] = {"expectation"};
constexpr std::string_view issue_words[] = {"issue"};
constexpr std::string_view metadata_words[] = {"metadata", "request_metadata"};
constexpr std::string_view request_aliases[] = {"trace_id"};
constexpr std::string_view begin_aliases[] = {"timestamp"};
constexpr std::string_view duration_aliases[] = {"execution_time"};
constexpr std::string_view end_aliases[] = {"end_time"};
constexpr Key trace_keys[] = {
    {.name = "request_id", .operators = textual | listed, .aliases = request_aliases},
    {.name = "timestamp_ms",
     .type = ValueType::number,
     .operators = numeric,
     .aliases = begin_aliases},
    {.name = "execution_time_ms",
     .type = ValueType::number,
     .operators = numeric,
     .aliases = duration_aliases},
    {.name = "end_time_ms",
     .type = ValueType::number,
     .operators = numeric,
     .aliases = end_aliases},
    {.name = "status", .operators = textual | listed},
    {.name = "name", .operators = textual | listed},
    {.name = "run_id", .operators = textual | listed},
    {.name = "client_request_id", .operators = textual | listed, .order = Key::Order::no},
    {.name = "experiment_id", .operators = only_order},
    {.name = "prompt", .operators = just(equal), .order = Key::Order::no},
    {.name = "text", .operators = just(like) | just(ilike), .order = Key::Order::no},
};
constexpr Key span_keys[] = {
    {.name = "name", .operators = textual | listed, .order = Key::Order::no},
    {.name = "type", .operators = textual | listed, .order = Key::Order::no},
    {.name = "status", .operators = textual | listed, .order = Key::Order::no},
    {.name = "content", .operators = just(like) | just(ilike), .order = Key::Order::no},
};
constexpr Key span_beginnings[] = {
    {.name = "attributes.", .operators = textual | listed, .order = Key::Order::no},
};
constexpr Key issue_keys[] = {
    {.name = "id", .operators = just(equal), .order = Key::Order::no},
};
constexpr Key assessed{
    .type = ValueType::either, .operators = numeric | textual | presence, .order = Key::Order::no};
// What is written with a trace is to it what parameters are to a run.
constexpr Family trace_families[] = {
    {.entity = Entity::attribute, .words = trace_words, .keys = trace_keys},
    tags,
    {.entity = Entity::param, .words = metadata_words, .any = {.operators = textual | presence}},
    {.entity = Entity::span, .words = span_words, .keys = span_keys, .beginnings = span_beginnings},
    {.entity = Entity::feedback, .words = feedback_words, .any = assessed},
    {.entity = Entity::expectation, .words = expectation_words, .any = assessed},
    {.entity = Entity::issue, .words = issue_words, .keys = issue_keys},
};

// Numbers about traces --------------------------------------------------------------------------

constexpr std::string_view measured_words[] = {"trace"};
constexpr std::string_view assessment_words[] = {"assessment"};
constexpr Key measured_key(std::string_view name)
{
    return {.name = name, .operators = just(equal), .order = Key::Order::no};
}
constexpr Key measured_trace[] = {measured_key("status")};
constexpr Key measured_pairs[] = {measured_key("tag."), measured_key("metadata.")};
constexpr Key measured_span[] = {
    measured_key("name"), measured_key("type"), measured_key("status")};
constexpr Key measured_assessment[] = {measured_key("name"), measured_key("type")};
constexpr Family trace_metric_families[] = {
    {.entity = Entity::attribute,
     .words = measured_words,
     .keys = measured_trace,
     .beginnings = measured_pairs},
    {.entity = Entity::span, .words = span_words, .keys = measured_span},
    {.entity = Entity::assessment, .words = assessment_words, .keys = measured_assessment},
};

bool contains(Words words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool serves(const Key& key, Purpose purpose)
{
    return purpose == Purpose::filter ? key.operators != only_order : key.order == Key::Order::yes;
}

}  // namespace

constinit const Grammar runs{"runs", run_families};
constinit const Grammar history_runs{"runs", history_families};
constinit const Grammar experiments{"experiments", experiment_families};
constinit const Grammar logged_models{"logged models", logged_model_families};
constinit const Grammar registered_models{"registered models", registered_model_families};
constinit const Grammar model_versions{"model versions", model_version_families};
constinit const Grammar traces{"traces", trace_families};
constinit const Grammar trace_metrics{"numbers about traces", trace_metric_families};

const Family* find_family(const Grammar& grammar, std::string_view word)
{
    for (const auto& family : grammar.families) {
        if (contains(family.words, word)) return &family;
    }
    return nullptr;
}

const Family* find_family(const Grammar& grammar, Entity entity)
{
    for (const auto& family : grammar.families) {
        if (family.entity == entity) return &family;
    }
    return nullptr;
}

const Key* find_key(const Family& family, std::string_view name, Purpose purpose)
{
    if (family.keys.empty()) return serves(family.any, purpose) ? &family.any : nullptr;
    for (const auto& key : family.keys) {
        const bool called = key.name == name || contains(key.aliases, name) ||
                            (purpose == Purpose::filter && contains(key.filter_aliases, name));
        if (called) return serves(key, purpose) ? &key : nullptr;
    }
    for (const auto& key : family.beginnings) {
        if (name.size() > key.name.size() && name.starts_with(key.name))
            return serves(key, purpose) ? &key : nullptr;
    }
    return nullptr;
}

bool is_open(const Family& family, const Key& key)
{
    return &key == &family.any || key.name.ends_with('.');
}

}  // namespace ponk::query::search

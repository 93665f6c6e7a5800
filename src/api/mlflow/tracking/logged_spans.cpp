// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking/logged_spans.hpp"

#include "api/mlflow/limits.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "mlflow/spans.hpp"
#include "store/tracking/traces.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ponk::api::mlflow {

namespace {

using ponk::mlflow::OtlpSpan;

constexpr std::size_t longest_preview = 1000;
constexpr std::size_t longest_model = 500;

std::string text_of(const Json& value)
{
    return value.is_string() ? value.as_string() : to_json(value);
}

bool is_tag(std::string_view key)
{
    return is_key(key) && check_length("key", key, limits::key) &&
           key != store::artifact_location_tag && key != store::spans_location_tag &&
           key != store::parent_tag;
}

// Tags of one trace after the other.
class Tags {
public:
    // Spans of one trace that came together have one resource, which is read once.
    Result<> add(const OtlpSpan& span)
    {
        if (span.resource != resource_) TRY(add_resource(*span.resource));
        resource_ = span.resource;
        constexpr std::string_view own = "mlflow.traceTag.";
        if (!span.parent.empty()) return {};
        for (const auto& [key, value] : span.attributes) {
            if (key.starts_with(own)) TRY(add(std::string_view(key).substr(own.size()), value));
        }
        return {};
    }

    // Those of the trace that ends here.
    store::Pairs take()
    {
        store::Pairs pairs(tags_.begin(), tags_.end());
        tags_.clear();
        resource_.reset();
        return pairs;
    }

private:
    Result<> add_resource(const JsonObject& resource)
    {
        for (const auto& [key, value] : resource) {
            if (!key.starts_with("telemetry.sdk.") && !key.starts_with("mlflow."))
                TRY(add(key, value));
        }
        return {};
    }

    // What cannot be a tag is passed over: the spans matter more.
    Result<> add(std::string_view key, const Json& value)
    {
        if (!is_tag(key)) return {};
        auto text = first_characters(text_of(value), limits::tag_value);
        bytes_ += key.size() + text.size();
        if (++count_ > most_request_tags || bytes_ > most_request_tag_bytes)
            return fail(ErrorKind::invalid_argument,
                        "The traces of one request can have at most {} tags, of {} together: send"
                        " fewer spans at once, or give their resource fewer attributes",
                        most_request_tags,
                        byte_size_text(most_request_tag_bytes));
        tags_.insert_or_assign(std::string(key), std::move(text));
        return check_work();
    }

    std::map<std::string, std::string> tags_;
    std::shared_ptr<const JsonObject> resource_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
};

std::optional<std::string> preview_of(const OtlpSpan& span, std::string_view name)
{
    const auto* value = span.attributes.find(name);
    if (!span.parent.empty() || value == nullptr) return std::nullopt;
    return first_characters(to_json(*value), longest_preview);
}

std::string_view status_of(const OtlpSpan& span)
{
    if (span.status == OtlpSpan::Status::ok) return "OK";
    return span.status == OtlpSpan::Status::error ? "ERROR" : "UNSET";
}

std::optional<std::string> text_at(const JsonObject& attributes, std::string_view key)
{
    const auto* value = attributes.find(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return first_characters(value->as_string(), longest_model);
}

std::optional<double> number_at(const Json& object, std::string_view key)
{
    const auto& value = object[key];
    if (!value.is_number() || !std::isfinite(value.as_double())) return std::nullopt;
    return value.as_double();
}

// Exporters that know no objects send a text that is one.
Json object_at(const JsonObject& attributes, std::string_view key)
{
    const auto* value = attributes.find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return *value;
    return parse_json(value->as_string()).value_or(Json());
}

store::Span stored(OtlpSpan span)
{
    const auto* type = span.attributes.find("mlflow.spanType");
    store::Span kept{.id = span.id,
                     .name = span.name,
                     .type = type && type->is_string() ? type->as_string() : "UNKNOWN",
                     .status = std::string(status_of(span)),
                     .began = span.began};
    if (!span.parent.empty()) kept.parent = span.parent;
    if (span.ended != 0) kept.ended = span.ended;
    kept.model = text_at(span.attributes, "mlflow.llm.model");
    kept.provider = text_at(span.attributes, "mlflow.llm.provider");
    const auto cost = object_at(span.attributes, "mlflow.llm.cost");
    kept.input_cost = number_at(cost, "input_cost");
    kept.output_cost = number_at(cost, "output_cost");
    kept.total_cost = number_at(cost, "total_cost");
    kept.content = to_json(ponk::mlflow::span_content(std::move(span)));
    return kept;
}

}  // namespace

Result<std::vector<store::LoggedSpans>> logged_spans(std::vector<OtlpSpan> spans)
{
    std::stable_sort(spans.begin(), spans.end(), [](const auto& left, const auto& right) {
        return left.trace < right.trace;
    });
    std::vector<store::LoggedSpans> all;
    Tags tags;
    for (auto& span : spans) {
        TRY(check_work());
        const auto trace = ponk::mlflow::trace_id_of(span);
        if (all.empty() || all.back().trace != trace) {
            if (!all.empty()) all.back().tags = tags.take();
            all.push_back({.trace = trace});
        }
        auto& logged = all.back();
        TRY(tags.add(span));
        if (auto text = preview_of(span, "mlflow.spanInputs")) logged.request = std::move(text);
        if (auto text = preview_of(span, "mlflow.spanOutputs")) logged.response = std::move(text);
        logged.spans.push_back(stored(std::move(span)));
    }
    if (!all.empty()) all.back().tags = tags.take();
    return all;
}

}  // namespace ponk::api::mlflow

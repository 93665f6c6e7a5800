// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/assessment_json.hpp"

#include "api/mlflow/limits.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "mlflow/trace_time.hpp"

#include <algorithm>

namespace ponk::api::mlflow {

namespace {

constexpr std::size_t longest_id = 50;
constexpr std::size_t longest_name = 250;
constexpr std::size_t longest_stack = 1000;
constexpr const char* json_format = "JSON_FORMAT";

// Lists and objects that are expected travel as text.
Json expectation_json(const Json& value)
{
    if (!value.is_array() && !value.is_object()) return JsonObject{{"value", value}};
    return JsonObject{
        {"serialized_value",
         JsonObject{{"serialization_format", json_format}, {"value", to_json(value)}}}};
}

Json feedback_json(const store::Assessment& assessment)
{
    JsonObject feedback{{"value", assessment.value}};
    if (!assessment.error.is_null()) feedback.set("error", assessment.error);
    return feedback;
}

Result<Json> expectation_of(const Fields& expectation)
{
    if (const auto text = TRY(expectation.find_object("serialized_value"))) {
        const auto format = TRY(text->text("serialization_format"));
        if (format != json_format)
            return fail(ErrorKind::invalid_argument,
                        "Unknown serialization format: {}. Only JSON_FORMAT is supported.",
                        printable(format));
        auto value = parse_json(TRY(text->text("value")), {.bytes = store::most_assessment_bytes});
        if (!value) return tl::unexpected(text->invalid("value", value.error().message()));
        return std::move(*value);
    }
    const auto& value = expectation.json()["value"];
    if (value.is_null())
        return fail(ErrorKind::invalid_argument, "The `value` field must be specified.");
    return value;
}

Result<Json> error_of(const Fields& feedback)
{
    const auto error = TRY(feedback.find_object("error"));
    if (!error) return Json();
    JsonObject kept;
    for (const char* name : {"error_code", "error_message", "stack_trace"}) {
        if (auto text = TRY(error->find_text(name)))
            kept.set(name, first_characters(std::move(*text), longest_stack));
    }
    return kept;
}

// What it says, and what kind of thing that is.
struct Said {
    std::string kind = {};
    Json value = {};
    Json error = {};
};

Result<Said> said_in(const Fields& fields)
{
    const auto feedback = TRY(fields.find_object("feedback"));
    const auto expectation = TRY(fields.find_object("expectation"));
    const auto issue = TRY(fields.find_object("issue"));
    if (feedback.has_value() + expectation.has_value() + issue.has_value() != 1)
        return fail(ErrorKind::invalid_argument,
                    "Exactly one of `expectation`, `feedback`, or `issue` should be specified.");
    if (feedback) {
        auto error = TRY(error_of(*feedback));
        return Said{"feedback", feedback->json()["value"], std::move(error)};
    }
    if (expectation) {
        auto value = TRY(expectation_of(*expectation));
        return Said{"expectation", std::move(value), {}};
    }
    auto name = TRY(issue->text("issue_name"));
    return Said{"issue", std::move(name), {}};
}

Result<store::Pairs> metadata_of(const Fields& fields)
{
    store::Pairs pairs;
    const auto map = TRY(fields.find_object("metadata"));
    if (!map) return pairs;
    for (const auto& [key, value] : map->json().as_object()) {
        if (!value.is_string() || key.empty()) return tl::unexpected(map->invalid(key));
        TRY(check_length("key", key, limits::key));
        pairs.emplace_back(key, value.as_string());
    }
    return pairs;
}

Result<std::optional<std::string>> short_text(const Fields& fields, std::string_view name)
{
    auto text = unless_empty(TRY(fields.find_text(name)));
    if (text) TRY(check_length(name, *text, longest_id));
    return text;
}

// It is a part of addresses.
Result<std::string> id_of(const Fields& fields)
{
    auto id = TRY(short_text(fields, "assessment_id")).value_or("");
    const bool legal = id != "." && id != ".." && std::all_of(id.begin(), id.end(), [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                  (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
                       });
    if (!legal) return tl::unexpected(fields.invalid("assessment_id"));
    return id;
}

Result<std::string> name_of(const Fields& fields)
{
    auto name = TRY(fields.text("assessment_name"));
    TRY(check_length("assessment_name", name, longest_name));
    return name;
}

Result<> add_source(const Fields& fields, store::Assessment& assessment)
{
    assessment.source_type = "SOURCE_TYPE_UNSPECIFIED";
    const auto source = TRY(fields.find_object("source"));
    if (!source) return {};
    const auto type = TRY(source->find_text("source_type"));
    if (type && *type != assessment.source_type)
        assessment.source_type =
            TRY(source->find_name("source_type", {"HUMAN", "LLM_JUDGE", "CODE"})).value();
    assessment.source = TRY(source->find_text("source_id")).value_or("");
    return check_length("source_id", assessment.source, longest_name);
}

Result<std::int64_t> time_of(const Fields& fields, std::string_view name)
{
    const auto text = TRY(fields.find_text(name));
    if (!text) return wall_milliseconds();
    const auto time = ponk::mlflow::parse_trace_time(*text);
    if (!time) return tl::unexpected(fields.invalid(name));
    return *time;
}

}  // namespace

Json assessment_json(const store::Assessment& assessment)
{
    JsonObject object{
        {"assessment_id", assessment.id},
        {"assessment_name", assessment.name},
        {"trace_id", assessment.trace},
        {"source",
         JsonObject{{"source_type", assessment.source_type}, {"source_id", assessment.source}}},
        {"create_time", ponk::mlflow::trace_time_text(assessment.created)},
        {"last_update_time", ponk::mlflow::trace_time_text(assessment.updated)}};
    if (assessment.span) object.set("span_id", *assessment.span);
    if (assessment.kind == "feedback") object.set("feedback", feedback_json(assessment));
    if (assessment.kind == "expectation")
        object.set("expectation", expectation_json(assessment.value));
    if (assessment.kind == "issue")
        object.set("issue", JsonObject{{"issue_name", assessment.value}});
    if (assessment.rationale) object.set("rationale", *assessment.rationale);
    if (!assessment.metadata.empty()) {
        JsonObject metadata;
        for (const auto& [key, value] : assessment.metadata)
            metadata.append(key, value);
        object.set("metadata", std::move(metadata));
    }
    if (assessment.overrides) object.set("overrides", *assessment.overrides);
    object.set("valid", assessment.valid);
    return object;
}

Result<store::Assessment> assessment_of(const Fields& fields, const std::string& trace)
{
    auto said = TRY(said_in(fields));
    store::Assessment assessment;
    assessment.id = TRY(id_of(fields));
    assessment.trace = trace;
    assessment.name = TRY(name_of(fields));
    assessment.kind = std::move(said.kind);
    assessment.value = std::move(said.value);
    assessment.error = std::move(said.error);
    TRY(add_source(fields, assessment));
    assessment.span = TRY(short_text(fields, "span_id"));
    assessment.rationale = unless_empty(TRY(fields.find_text("rationale")));
    assessment.metadata = TRY(metadata_of(fields));
    assessment.overrides = TRY(short_text(fields, "overrides"));
    assessment.created = TRY(time_of(fields, "create_time"));
    assessment.updated = TRY(time_of(fields, "last_update_time"));
    return assessment;
}

Result<store::AssessmentChange> change_of(const Fields& fields, const std::string& mask)
{
    store::AssessmentChange change;
    for (const auto& word : split(mask, ',')) {
        if (word == "assessment_name" || word == "assessmentName") {
            change.name = TRY(name_of(fields));
        } else if (word == "feedback" || word == "expectation") {
            auto said = TRY(said_in(fields));
            if (said.kind != word) return tl::unexpected(fields.missing(word));
            change.kind = std::move(said.kind);
            change.value = std::move(said.value);
            change.error = std::move(said.error);
        } else if (word == "rationale") {
            change.rationale = TRY(fields.find_text("rationale")).value_or("");
        } else if (word == "metadata") {
            change.metadata = TRY(metadata_of(fields));
        } else if (word != "valid") {  // which nobody but the server says
            return fail(ErrorKind::invalid_argument,
                        "Invalid value '{}' for parameter 'update_mask' supplied: it can name"
                        " assessment_name, feedback, expectation, rationale and metadata",
                        printable(word));
        }
    }
    return change;
}

}  // namespace ponk::api::mlflow

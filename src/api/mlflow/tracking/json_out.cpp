// SPDX-License-Identifier: Apache-2.0
#include "api/mlflow/tracking/json_out.hpp"

#include "api/mlflow/model_json.hpp"
#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ponk::api::mlflow {

namespace {

void append_pairs(std::string& out, std::string_view name, const store::Pairs& pairs)
{
    // A list without entries is absent.
    if (pairs.empty()) return;
    append_name(out, name);
    out += '[';
    for (const auto& [key, value] : pairs) {
        out += out.back() == '[' ? "{\"key\":" : ",{\"key\":";
        append_text(out, key);
        out += ",\"value\":";
        append_text(out, value);
        out += '}';
    }
    out += ']';
}

void append_member(std::string& out, std::string_view name, std::string_view text)
{
    append_name(out, name);
    append_text(out, text);
}

void append_member(std::string& out, std::string_view name, std::int64_t number)
{
    append_name(out, name);
    append_integer(out, number);
}

std::string_view stage(bool deleted)
{
    return deleted ? "deleted" : "active";
}

void append_data(std::string& out, const store::TrackedRun& run)
{
    out += '{';
    if (!run.metrics.empty()) {
        append_name(out, "metrics");
        out += '[';
        for (const auto& metric : run.metrics) {
            if (out.back() != '[') out += ',';
            append_metric(out, metric);
        }
        out += ']';
    }
    append_pairs(out, "params", run.params);
    append_pairs(out, "tags", run.tags);
    out += '}';
}

}  // namespace

void append_text(std::string& out, std::string_view text)
{
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
        return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
    if (!plain) {
        out += to_json(Json(text));
        return;
    }
    out += '"';
    out += text;
    out += '"';
}

void append_number(std::string& out, double number)
{
    if (!std::isfinite(number)) return append_text(out, number_text(number));
    const auto begin = out.size();
    fmt::format_to(std::back_inserter(out), "{}", number);
    if (out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

void append_integer(std::string& out, std::int64_t number)
{
    fmt::format_to(std::back_inserter(out), "{}", number);
}

void append_name(std::string& out, std::string_view name)
{
    if (!out.empty() && out.back() != '{') out += ',';
    out += '"';
    out += name;
    out += "\":";
}

void append_metric(std::string& out, const model::MetricPoint& point, std::string_view run_id)
{
    out += '{';
    append_member(out, "key", point.key);
    append_name(out, "value");
    append_number(out, point.value);
    append_member(out, "timestamp", point.time);
    append_member(out, "step", point.step);
    if (!run_id.empty()) append_member(out, "run_id", run_id);
    out += '}';
}

void append_experiment(std::string& out, const store::Experiment& experiment)
{
    out += '{';
    append_member(out, "experiment_id", std::to_string(experiment.id));
    append_member(out, "name", experiment.name);
    append_member(
        out, "artifact_location", store::artifact_location(experiment.id, experiment.location));
    append_member(out, "lifecycle_stage", stage(experiment.deleted));
    append_member(out, "last_update_time", experiment.updated);
    append_member(out, "creation_time", experiment.created);
    append_pairs(out, "tags", experiment.tags);
    out += '}';
}

void append_run_info(std::string& out, const store::TrackedRun& run)
{
    out += '{';
    append_member(out, "run_id", run.id.text());
    // Older clients look for this one.
    append_member(out, "run_uuid", run.id.text());
    append_member(out, "run_name", run.name);
    append_member(out, "experiment_id", std::to_string(run.experiment));
    append_member(out, "user_id", run.user);
    append_member(out, "status", std::string_view(model::mlflow_status(run.state)));
    append_member(out, "start_time", run.started);
    if (run.ended != 0) append_member(out, "end_time", run.ended);
    append_member(out, "artifact_uri", store::artifact_uri(run));
    append_member(out, "lifecycle_stage", stage(run.deleted));
    out += '}';
}

void append_run(std::string& out, const store::TrackedRun& run)
{
    out += '{';
    append_name(out, "info");
    append_run_info(out, run);
    append_name(out, "data");
    append_data(out, run);
    // Clients expect both, also when there is nothing in them.
    append_name(out, "inputs");
    out += to_json(inputs_json(run.inputs));
    append_name(out, "outputs");
    out += to_json(outputs_json(run.inputs));
    out += '}';
}

net::Response text_reply(std::string json)
{
    net::Response response;
    response.body = std::move(json);
    response.body += '\n';
    return response;
}

}  // namespace ponk::api::mlflow

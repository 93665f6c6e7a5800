// SPDX-License-Identifier: Apache-2.0
#include "store/copy/run_json.hpp"

#include "base/time.hpp"
#include "model/run_words.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

Json time_json(std::int64_t time)
{
    return time == 0 ? Json() : Json(utc_text(time));
}

Json text_json(const std::string& text)
{
    return text.empty() ? Json() : Json(text);
}

Json error_json(const std::optional<Error>& error)
{
    if (!error) return {};
    return JsonObject{
        {"kind", to_string(error->kind())}, {"message", error->message()}, {"hint", error->hint()}};
}

Json duration_json(const model::Run& run)
{
    // The supervisor measured it by a clock that does not jump.
    if (const auto found = run.timings.find("run"); found != run.timings.end())
        return found->second;
    if (run.started == 0 || run.ended == 0) return {};
    return std::max<std::int64_t>(0, run.ended - run.started);
}

}  // namespace

Json run_json(const model::Run& run)
{
    JsonArray arguments;
    for (const auto& argument : run.arguments)
        arguments.emplace_back(argument);
    JsonObject timings;
    for (const auto& [phase, span] : run.timings)
        timings.append(phase, span);
    return JsonObject{{"run_id", run.id.text()},
                      {"run_number", run.number},
                      {"name", run.name},
                      {"status", model::to_string(run.state)},
                      {"exit_code", run.exit_code ? Json(*run.exit_code) : Json()},
                      {"error", error_json(run.error)},
                      {"project", run.project},
                      {"project_path", run.project_path},
                      {"script_name", run.script_name},
                      {"arguments", std::move(arguments)},
                      {"target", run.target},
                      {"target_type", run.target_type},
                      {"run_configuration", run.run_configuration},
                      {"framework", run.framework},
                      {"user", run.user},
                      {"host", run.host},
                      {"created_utc", time_json(run.created)},
                      {"start_time_utc", time_json(run.started)},
                      {"end_time_utc", time_json(run.ended)},
                      {"duration_ms", duration_json(run)},
                      {"snapshot", text_json(run.snapshot)},
                      {"outputs", text_json(run.outputs)},
                      {"rerun_of", text_json(run.rerun_of)},
                      {"tracked", run.tracked},
                      {"hidden", run.hidden},
                      {"params", model::params_json(run)},
                      {"tags", model::tags_json(run)},
                      {"timings", std::move(timings)},
                      {"git", run.git},
                      {"configuration", run.configuration},
                      {"environment", run.environment},
                      {"evidence", run.evidence},
                      {"gpu_verdict", model::gpu_verdict_json(run)},
                      {"gpu_evidence", model::gpu_evidence_json(run)},
                      {"warnings", JsonArray(run.warnings.begin(), run.warnings.end())}};
}

}  // namespace ponk::store

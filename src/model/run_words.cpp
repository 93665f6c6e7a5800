// SPDX-License-Identifier: Apache-2.0
#include "model/run_words.hpp"

#include "model/run_spec.hpp"
#include "model/run_state.hpp"

namespace ponk::model {

std::string stored_tag(std::string_view key)
{
    return (key.starts_with(parameter_prefix) ? std::string(1, tag_mark) : std::string())
        .append(key);
}

std::string_view shown_tag(std::string_view stored)
{
    const bool marked =
        stored.starts_with(tag_mark) && stored.substr(1).starts_with(parameter_prefix);
    return marked ? stored.substr(1) : stored;
}

Json params_json(const Run& run)
{
    JsonObject params;
    for (const auto& [key, value] : run.tags) {
        if (key.starts_with(parameter_prefix))
            params.set(key.substr(parameter_prefix.size()), value);
    }
    return params;
}

Json tags_json(const Run& run)
{
    JsonObject tags;
    for (const auto& [key, value] : run.tags) {
        if (!key.starts_with(parameter_prefix)) tags.set(std::string(shown_tag(key)), value);
    }
    return tags;
}

std::string gpu_verdict(const Run& run)
{
    if (run.gpu.is_null()) {
        // Nothing is known of them: it waits, or never came so far. What every run gets by itself
        // is no request; and who asked for none has an empty one.
        const auto request = stored_gpu_request(run.configuration);
        const bool requested = (request.origin == GpuRequest::Origin::asked && !request.empty()) ||
                               request.need == GpuRequest::Need::required;
        return requested ? "unknown" : std::string(gpu_not_requested);
    }
    const auto verdict = run.gpu.text("verdict");
    return verdict.empty() ? "unknown" : verdict;
}

Json gpu_verdict_json(const Run& run)
{
    if (is_terminal(run.state)) return gpu_verdict(run);
    if (run.gpu.is_object()) {
        const auto verdict = run.gpu.text("verdict");
        return verdict.empty() ? Json() : Json(verdict);
    }
    // It may still get some.
    const bool wants = !stored_gpu_request(run.configuration).empty();
    return wants && run.state < RunState::running ? Json() : Json(gpu_verdict(run));
}

Json gpu_evidence_json(const Run& run)
{
    Json evidence = run.gpu;
    if (evidence.is_object()) evidence.as_object().erase("verdict");
    return evidence;
}

}  // namespace ponk::model

// SPDX-License-Identifier: Apache-2.0
#include "executor/job/gpu_request.hpp"

#include "model/gpu_selection.hpp"

#include <algorithm>

namespace ponk::executor {

Json to_json(const GpuRequest& request)
{
    return JsonObject{{model::stored_selection_name, request.selection},
                      {"asked", request.origin == GpuRequest::Origin::asked},
                      {"required", request.need == GpuRequest::Need::required},
                      {"refuse", request.busy == GpuRequest::Busy::refuse},
                      {"grace_seconds", static_cast<std::int64_t>(request.grace.count())}};
}

GpuRequest gpu_request_from(const Json& json)
{
    const auto& selection = model::stored_selection(json);
    return {.selection = selection.is_string() ? selection.as_string() : std::string(),
            .origin = json.boolean("asked") ? GpuRequest::Origin::asked : GpuRequest::Origin::usual,
            .need =
                json.boolean("required") ? GpuRequest::Need::required : GpuRequest::Need::wanted,
            .busy = json.boolean("refuse") ? GpuRequest::Busy::refuse : GpuRequest::Busy::wait,
            .grace = std::chrono::seconds(json.integer("grace_seconds", 600))};
}

std::vector<std::pair<std::string, std::string>> hiding_variables()
{
    return {{"CUDA_VISIBLE_DEVICES", ""},
            {"HIP_VISIBLE_DEVICES", "-1"},
            {"ROCR_VISIBLE_DEVICES", "-1"}};
}

bool chooses_devices(std::string_view variable)
{
    const auto all = hiding_variables();
    return std::any_of(
        all.begin(), all.end(), [&](const auto& each) { return each.first == variable; });
}

}  // namespace ponk::executor

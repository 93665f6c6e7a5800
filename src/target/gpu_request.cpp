// SPDX-License-Identifier: Apache-2.0
#include "target/gpu_request.hpp"

namespace ponk::target {

Json to_json(const GpuRequest& request)
{
    return JsonObject{{"wish", request.wish},
                      {"asked", request.origin == GpuRequest::Origin::asked},
                      {"required", request.need == GpuRequest::Need::required},
                      {"refuse", request.busy == GpuRequest::Busy::refuse},
                      {"grace_seconds", static_cast<std::int64_t>(request.grace.count())}};
}

GpuRequest gpu_request_from(const Json& json)
{
    return {.wish = json.text("wish"),
            .origin = json.boolean("asked") ? GpuRequest::Origin::asked : GpuRequest::Origin::usual,
            .need =
                json.boolean("required") ? GpuRequest::Need::required : GpuRequest::Need::wanted,
            .busy = json.boolean("refuse") ? GpuRequest::Busy::refuse : GpuRequest::Busy::wait,
            .grace = std::chrono::seconds(json.integer("grace_seconds", 600))};
}

}  // namespace ponk::target

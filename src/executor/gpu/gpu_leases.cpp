// SPDX-License-Identifier: Apache-2.0
#include "executor/gpu/gpu_leases.hpp"

#include "gpu/lease/lease.hpp"

namespace ponk::executor {

void add_leases(JsonArray& devices, const std::vector<std::string>& environment)
{
    const auto folder = gpu::LeaseFolder::open(environment);
    if (!folder) return;
    for (auto& device : devices) {
        const auto holder = folder->holder(device.text("uuid"));
        if (!holder) continue;
        device.as_object().set("lease",
                               *holder ? Json(JsonObject{{"user", (*holder)->user},
                                                         {"run", (*holder)->run},
                                                         {"pid", (*holder)->pid},
                                                         {"since", (*holder)->since},
                                                         {"present", (*holder)->is_present}})
                                       : Json());
    }
}

}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#include "executor/job/device_variables.hpp"

#include <algorithm>

namespace ponk::executor {

model::Variables hiding_variables()
{
    return {{"CUDA_VISIBLE_DEVICES", ""},
            {"HIP_VISIBLE_DEVICES", "-1"},
            {"ROCR_VISIBLE_DEVICES", "-1"}};
}

bool chooses_devices(std::string_view variable)
{
    return std::ranges::any_of(hiding_variables(),
                               [&](const auto& each) { return each.first == variable; });
}

}  // namespace ponk::executor

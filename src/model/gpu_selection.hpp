// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::model {

// Which GPUs a run asks for: the words of `--gpus`, of `gpus:` in a file, and of a place in the
// queue.
struct GpuSelection {
    enum class Kind { none, count, all, named } kind = Kind::none;
    unsigned count = 0;
    std::vector<std::string> uuids;  // or their unique beginnings, or indexes; of `named`
};

// "none", "all", "2", "GPU-…,GPU-…"; "0," is the GPU in place 0. Fails with what is allowed.
Result<GpuSelection> parse_gpu_selection(std::string_view text);
std::string to_text(const GpuSelection& selection);

}  // namespace ponk::model

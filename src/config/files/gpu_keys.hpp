// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/schema/schema.hpp"
#include "config/text/diagnostic.hpp"
#include "config/text/place.hpp"

#include <optional>
#include <string>

namespace ponk::config {

// How much a run depends on a GPU: taken when there is one, demanded, or left alone.
enum class GpuPolicy { automatic, required, none };

const char* to_string(GpuPolicy selection);

// What targets and run configurations say about GPUs in the same words.
struct GpuKeys {
    Located<std::string>& gpus;  // as `--gpus`; empty: nothing is said
    Located<GpuPolicy>& gpu;
    Located<std::int64_t>& grace_seconds;
};

// Reads `gpus`, `gpu` and `gpuGrace` of one file; a selection that is none, and keys that
// contradict each other, are errors.
void read_gpu_keys(const SectionReader& reader, const GpuKeys& keys, Report& report);

// Whether `gpus` says that there shall be none.
bool asks_for_no_gpu(const Located<std::string>& gpus);

}  // namespace ponk::config

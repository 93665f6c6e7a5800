// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/engine.hpp"
#include "environment/cache.hpp"

#include <vector>

namespace ponk::environment {

// Removes a record's image from the engine among these that has it. `unavailable` when none is that
// engine, `conflict` while a container uses the image.
Cache::RemoveImage image_remover(std::vector<dockerapi::Engine> engines);

}  // namespace ponk::environment

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "environment/cache/cache.hpp"

#include <stop_token>

namespace ponk::environment {

// Removes a record's image from the engine where it was built, reached as then. `unavailable` when
// that engine is not there, `conflict` while a run uses the image. The engine keeps its layers
// while a container that ended is made of them; those are named.
Cache::RemoveImage image_remover();

// Whether a container that lives, or is about to, is made of the record's image.
Result<bool> is_image_in_use(const Record& record, const std::stop_token& stop);
// All containers that are made of it.
Result<std::vector<std::string>> holders_of_image(const Record& record,
                                                  const std::stop_token& stop);

}  // namespace ponk::environment

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/context/context.hpp"

#include <cstddef>
#include <stop_token>

namespace ponk::engine {

// Removes what runs that have ended did not change from their copies of the project, where a daemon
// was killed before it did so. Returns how many copies were smaller afterwards.
Result<std::size_t> trim_copies(const Context& context, const std::stop_token& stop);

}  // namespace ponk::engine

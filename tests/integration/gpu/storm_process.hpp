// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storm_board.hpp"

#include <random>

namespace ponk::gpu::storm {

// One process of the storm: becomes its user, queues for GPUs, has them for a moment, lets go.
void live(Board& board, std::size_t number, unsigned seed, const Path& folder);

}  // namespace ponk::gpu::storm

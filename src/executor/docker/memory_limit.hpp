// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dockerapi/container.hpp"

namespace ponk::executor::docker {

// What a container may use where the user's arguments say nothing about memory: all of the machine
// but a tenth, at least 512 MiB, so that a script that wants more than there is ends itself and not
// its neighbours. 0: no limit, because the engine cannot keep one or does not tell its memory.
std::int64_t default_memory_limit(const dockerapi::Info& engine);

// Arguments that were applied to a container say something about its memory.
bool sets_memory(const dockerapi::ContainerSpec& container);

// Gives a container that limit, unless arguments that were applied to it set one.
void limit_memory(const dockerapi::Info& engine, dockerapi::ContainerSpec& container);

// The bytes that it may use; 0: no limit.
std::int64_t memory_limit_of(const dockerapi::ContainerSpec& container);

}  // namespace ponk::executor::docker

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lease/lease.hpp"

#include <string>
#include <vector>

// What keeps a GPU from being free besides leases, in sentences for people.
namespace ponk::gpu_monitor {

// Everybody who computes on the device, and memory that nobody visible holds. What only draws on a
// screen does not count.
std::vector<std::string> describe_strangers(const gpu::Device& device, const gpu::Sample& sample);

std::vector<std::string> waiting_sentences(const gpu::Waiting& waiting);

}  // namespace ponk::gpu_monitor

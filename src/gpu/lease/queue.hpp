// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lease/lease.hpp"
#include "gpu/lease/lease_note.hpp"

#include <set>
#include <string>
#include <vector>

namespace ponk::gpu {

// How many GPUs the selection needs among `candidates`.
std::size_t needed_of(const Selection& selection, const std::vector<Device>& candidates);
// True when both cannot be leased at a time: the same, or a card and an instance of it.
bool exclude_each_other(const Device& left, const Device& right);

// What those who came before a ticket mean for it.
struct LeaseFolder::Before {
    unsigned count = 0;                // of those who could take what we could
    std::vector<Owner> ahead;          // the first few of them
    std::set<std::string> spoken_for;  // GPUs that they could take
    os::Fd blocker;                    // a ticket that alone keeps us from going, if there is one
};

}  // namespace ponk::gpu

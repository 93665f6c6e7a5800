// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lease/lease.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ponk::gpu {

// What a lock file or a ticket says of its owner: one line of JSON, docs/design/gpu.md.
struct LeaseNote {
    Owner owner;
    std::optional<Selection> selection;  // of a ticket
};

constexpr std::size_t lease_note_limit = 16384;

std::string to_text(const LeaseNote& note);
// Anybody may have written it: nullopt for all that is not exactly such a note. Texts come back fit
// for a terminal.
std::optional<LeaseNote> parse_lease_note(std::string_view text);

// Replaces what the file says. When there is no room for it, it says nothing: an old note would
// name the wrong one.
void write_lease_note(int fd, const LeaseNote& note);
std::optional<LeaseNote> read_lease_note(int fd);

}  // namespace ponk::gpu

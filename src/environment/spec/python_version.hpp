// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ponk::environment {

// Whether the release `version` ("3.11.2") is one that a conda constraint wants: "=3.11" and "3.11"
// mean 3.11 and all its patches, "==3.11.2" exactly that, and ">=3.6,<4|=2.7" what it says. Empty
// wants nothing. A constraint that cannot be read, or that asks for a build, fits nothing.
bool fits(std::string_view version, std::string_view constraint);

// Negative, zero, positive as `left` is older, equal or newer; by numbers, "3.9" before "3.11".
int compare_releases(std::string_view left, std::string_view right);

}  // namespace ponk::environment

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ponk {

// Of the API between commands and daemon, /api/v1. Programs of any version that speak the same one
// share a daemon; it changes only when an older command or daemon would misunderstand the other.
inline constexpr int api_version = 1;

}  // namespace ponk

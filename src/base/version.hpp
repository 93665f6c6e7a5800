// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ponk {

// The version of this program, "0.1.0". A daemon of another version is replaced.
std::string_view own_version();

}  // namespace ponk

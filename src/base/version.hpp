// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ponk {

// The version of this program, "0.1.0". Several share a daemon: base/api_version.hpp.
std::string_view own_version();

}  // namespace ponk

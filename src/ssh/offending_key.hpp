// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <string_view>

namespace ponk::ssh {

// The key that was known where ssh says that it changed: "ED25519 SHA256:… (line 1 of '/…')", read
// from the line that ssh names. `folder` is where our ssh runs, which relative names are meant
// from. Empty when it names none, or the line holds no key any more.
std::string offending_key(std::string_view said, const os::Path& folder);

}  // namespace ponk::ssh

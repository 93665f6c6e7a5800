// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>

namespace ponk::secrets {

// The 256 bits that seal this home's secrets, in a file that only its owner can read.
struct SealingKey {
    std::string bytes;
    std::string id;  // identifies a key without revealing it
};

// nullopt when there is none. Refuses a file that others can read, or that is damaged.
Result<std::optional<SealingKey>> find_key(const os::Path& file);
Result<SealingKey> find_or_make_key(const os::Path& file);

}  // namespace ponk::secrets

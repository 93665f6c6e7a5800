// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <cstdint>

namespace ponk::os {

// What a folder takes on its disk. A file with several names counts once, a link as itself.
struct DiskUse {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;  // without folders
};

// What cannot be looked at is left out; a folder that is not there takes nothing.
DiskUse disk_use(const Path& folder);

}  // namespace ponk::os

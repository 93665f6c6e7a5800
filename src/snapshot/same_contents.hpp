// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "snapshot/manifest.hpp"

namespace ponk::snapshot {

// The open file has the very bytes that `entry` says. Reads it only if the size is the same.
Result<bool> has_contents(int file, const ManifestEntry& entry);

}  // namespace ponk::snapshot

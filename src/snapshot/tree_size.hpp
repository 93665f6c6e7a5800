// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "snapshot/take_snapshot.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::snapshot {

// Looks at each file of the tree that `options` describe, and reads none.
Result<TreeSize> measure_tree(int root, const SnapshotOptions& options);

}  // namespace ponk::snapshot

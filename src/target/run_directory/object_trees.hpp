// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "snapshot/object_store.hpp"
#include "target/run_directory/working_copy.hpp"

namespace ponk::target {

// Trees in and out of an object store of this machine, which outlives the result.
TreeStore trees_of(const snapshot::ObjectStore& objects);

}  // namespace ponk::target

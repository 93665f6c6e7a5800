// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/run_directory/working_copy.hpp"
#include "snapshot/object_store.hpp"

namespace ponk::executor {

// Trees in and out of an object store of this machine, which outlives the result.
TreeStore trees_of(const snapshot::ObjectStore& objects);

}  // namespace ponk::executor

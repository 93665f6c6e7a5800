// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "snapshot/object_store.hpp"

namespace ponk::engine {

// Stores the list of a run's outputs with files that it wrote elsewhere among them, each at its
// path: "checkpoints/a" as if it had been written to "outputs/checkpoints/a". What the run wrote
// there itself wins, which `notices` says.
Result<Digest> merge_kept(const snapshot::ObjectStore& objects,
                          const std::optional<Digest>& outputs,
                          const snapshot::Manifest& kept,
                          executor::Notices& notices);

// "checkpoints/, last.ckpt": what of the project's folder the list is of; of many, the first five.
std::string outermost_names(const snapshot::Manifest& list);

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "snapshot/manifest.hpp"

namespace ponk::executor {

// Lets `before` give other names to a tree that is only a manifest here: it works on a folder
// below `directory` with the same names and links whose files are empty, and what it changed there
// is changed in the manifest.
Result<snapshot::Manifest> rename_entries(const snapshot::Manifest& manifest,
                                          const RunDirectory& directory,
                                          const BeforeStoring& before);

}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "target/job/job.hpp"

namespace ponk::target::remote {

// The file `box` of a run directory: on which machine the run is.
Result<> write_box(const Path& directory, const BoxAddress& box);
// `not_found` when the run was never given to a machine.
Result<BoxAddress> read_box(const Path& directory);

// Machines that runs of this type were given to, so that what they keep can be asked for later.
Result<> remember_box(const Path& home, const std::string& type, const BoxAddress& box);
std::vector<BoxAddress> known_boxes(const Path& home, const std::string& type);
// Until the next run goes there.
void forget_box(const Path& home, const std::string& type, const BoxAddress& box);

// The last snapshot of a project that a machine was seen to hold as a whole: the next one differs
// little. `source` is the project's folder.
Path last_manifest_file(const Path& home, const BoxAddress& box, const Path& source);

}  // namespace ponk::target::remote

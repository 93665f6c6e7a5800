// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

namespace ponk::executor::remote {

// The file `host` of a run directory: on which machine the run is.
Result<> write_host(const RunDirectory& directory, const HostAddress& host);
// `not_found` when the run was never given to a machine.
Result<HostAddress> read_host(const RunDirectory& directory);

// Machines that runs of this type were given to, so that what they keep can be asked for later.
Result<> remember_host(const Path& home, const std::string& type, const HostAddress& host);
std::vector<HostAddress> known_hosts(const Path& home, const std::string& type);
// Until the next run goes there.
void forget_host(const Path& home, const std::string& type, const HostAddress& host);

// The last snapshot of a project that a machine was seen to hold as a whole: the next one differs
// little. `source` is the project's folder.
Path last_manifest_file(const Path& home, const HostAddress& host, const Path& source);

}  // namespace ponk::executor::remote

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "config/files/compute.hpp"

namespace ponk::cli {

// Fails with `conflict` when the project has a target or run configuration of that name.
Result<> require_free_name(const os::Path& project, const std::string& name);

// Both files of a target, or none.
struct WrittenTarget {
    os::Path compute;
    os::Path runconfig;
};
Result<WrittenTarget> write_target(const os::Path& project, const config::ComputeTarget& target);

// `computetarget attach` for a machine that is reached by SSH, and for the engine on this one.
Outcome attach_host(Context& context, const Invocation& words, config::ComputeTarget target);
// `computetarget attach --from FILE`: a machine that a file of a project names, which stays as it
// is.
Outcome attach_from(Context& context, const Invocation& words, const std::string& file);
// `computetarget attach --show-host-key`: what a user compares before anything else is sent there.
Outcome show_host_key(Context& context, const Invocation& words);
Outcome attach_engine(Context& context, const Invocation& words, config::ComputeTarget target);

}  // namespace ponk::cli

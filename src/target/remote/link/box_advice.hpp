// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "target/job/job.hpp"

#include <string>

namespace ponk::target::remote {

// An engine that a box does not have, or not for this user, as the user at this machine needs it
// told: which machine is meant, and which command mends it; advice about a changed host key gets
// the target's name. Other errors stay as they are. `target` is the name of the target.
Error advise_for_box(const Error& error, const BoxAddress& box, const std::string& target);

}  // namespace ponk::target::remote

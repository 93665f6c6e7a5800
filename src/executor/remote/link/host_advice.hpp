// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "executor/job/job.hpp"

#include <string>

namespace ponk::executor::remote {

// An engine that a host does not have, or not for this user, as the user at this machine needs it
// told: which machine is meant, and which command fixes it; advice about a changed host key gets
// the target's name. Other errors stay as they are. `target` is the name of the target.
Error advise_for_host(const Error& error, const HostAddress& host, const std::string& target);

}  // namespace ponk::executor::remote

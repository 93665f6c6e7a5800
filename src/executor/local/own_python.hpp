// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

namespace ponk::executor::local {

// The user's own Python, whose packages are theirs: looked for as a run would, and started once.
Result<Examination> examine_own_python(const Job& job, std::stop_token stop);

}  // namespace ponk::executor::local

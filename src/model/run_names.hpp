// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ponk::model {

// A name for a run that was given none, easy to say and to tell from others: "quiet-otter-417".
std::string make_run_name();

}  // namespace ponk::model

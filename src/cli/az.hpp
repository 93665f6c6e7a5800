// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

namespace ponk::cli {

// Whether we were called as `az` (through a link), to serve `az ml …`.
bool started_as_az(const char* program);

// Becomes the real `az`, the next one on PATH that is not us. Returns only when there is none.
Error pass_to_az(char** argv);

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

namespace ponk::os {

// A path that somebody else wrote down, taken relative to `root`: what it names, after every "..",
// and what it leads to, after every link, lies in `root`. Absent things are `not_found`, those that
// lead out `invalid_argument` with the way that they take; the path itself is as written.
Result<Path> contained_path(const Path& root, const Path& relative);

}  // namespace ponk::os

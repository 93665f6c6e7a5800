// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

namespace ponk::cli {

// Where ponk keeps its state: $PONK_HOME, else $XDG_DATA_HOME/ponk, else ~/.local/share/ponk.
// Always absolute; not made here.
Result<os::Path> ponk_home();

}  // namespace ponk::cli

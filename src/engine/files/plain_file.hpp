// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <string>
#include <sys/stat.h>

namespace ponk::engine {

using os::Path;

// Opens a plain file below the folder `root` for reading. A folder, a device, a FIFO, a socket and
// a link on the way are errors: it is looked at before it is opened.
Result<os::Fd> open_plain(int root, const Path& path, struct stat& info);

// All of it; an error when it is longer than what editors get. `path` is for the error.
Result<std::string> read_text(const os::Fd& file, const Path& path);

}  // namespace ponk::engine

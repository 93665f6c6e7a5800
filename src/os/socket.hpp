// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <sys/types.h>

namespace ponk::os {

// A listening Unix socket with mode 0600. Paths past the kernel's 107 bytes work too: the folder is
// entered through a descriptor.
Result<Fd> listen_unix(const Path& path);
// Connects; `unavailable` when nobody listens.
Result<Fd> connect_unix(const Path& path);
// The user on the other side.
Result<uid_t> peer_user(int socket);
// The process that listens on the socket at `path`, also when it does not answer.
Result<pid_t> listening_process(const Path& path);

}  // namespace ponk::os

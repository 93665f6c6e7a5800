// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "os/file_lock.hpp"
#include "ssh/client.hpp"

namespace ponk::cli {

// Held by a command as long as it changes what this machine knows about a host (key, settings, the
// targets that use it): each reads all of it, decides, and writes it back. Waits for another that
// does so, and says that it waits.
Result<os::FileLock> lock_host(Context& context, const ssh::Access& access);

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sys/stat.h>

namespace ponk::cli {

// The user's umask, for files that the daemon makes for them: it has one of its own. No other
// thread may run.
inline std::int64_t own_umask()
{
    const mode_t mask = ::umask(077);  // there is no call that only asks
    ::umask(mask);
    return mask;
}

}  // namespace ponk::cli

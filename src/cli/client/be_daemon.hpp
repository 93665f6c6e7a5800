// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/entry.hpp"

namespace ponk::cli {

// Turns this process into the daemon; returns when it has ended.
Result<> be_daemon(const Entry& entry, const DaemonOptions& options);

}  // namespace ponk::cli

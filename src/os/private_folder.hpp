// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

namespace ponk::os {

// Refuses a folder that another user may have filled, as ssh and gpg do: one that belongs to
// neither us nor root, that everybody may write to, or that a group of several people may write
// to. `conflict` names the command that mends it. A folder that is not there is fine.
Result<> check_private(const Path& folder);

}  // namespace ponk::os

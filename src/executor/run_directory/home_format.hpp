// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <vector>

namespace ponk::executor {

using os::Path;

// The version of a folder of ponk, PONK_HOME or the one of a host: the file `format` in it
// (docs/design/home-format.md). A folder of an earlier version is converted once. A value.
class HomeFormat {
public:
    static constexpr int newest = 2;

    // Reads the version; changes nothing. `conflict` when a newer ponk wrote the folder, or runs
    // of an earlier version are alive there, which must end first.
    static Result<HomeFormat> look(const Path& home);

    // Makes the folder one of this version; a call that was killed is repeated by the next one.
    // One process at a time. Returns how many runs were converted.
    Result<std::size_t> upgrade() const;

private:
    HomeFormat(Path home, int version) : home_(std::move(home)), version_(version) {}
    Path home_;
    int version_;
};

}  // namespace ponk::executor

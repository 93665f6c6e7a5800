// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ponk::executor {

using os::Path;

// The version of a folder of ponk, PONK_HOME or the one of a host: the file `format` in it
// (docs/design/home-format.md). A folder of an earlier version is converted once. A value.
class HomeFormat {
public:
    static constexpr std::int64_t newest = 2;

    // Reads the version and moves nothing. `conflict` when a newer ponk wrote the folder, or runs
    // of an earlier version are alive there, which must end first.
    static Result<HomeFormat> look(const Path& home);

    struct Upgrade {
        std::size_t converted = 0;          // runs
        std::vector<std::string> problems;  // runs that stay as they are, with the reason
    };
    // Makes the folder one of this version; a call that was killed is repeated by the next one.
    // One process at a time.
    Result<Upgrade> upgrade() const;

private:
    // With less than this, a failure is the disk's and not a run's.
    static constexpr std::uint64_t least_space = std::uint64_t{16} << 20;

    HomeFormat(Path home, bool home_is_marked, bool runs_are_marked)
        : home_(std::move(home)), home_is_marked_(home_is_marked), runs_are_marked_(runs_are_marked)
    {
    }
    static std::string mark_text();

    Path home_;
    bool home_is_marked_;
    bool runs_are_marked_;
};

}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"

#include <stop_token>

namespace ponk::agent {

using os::Path;

// Makes sure of the folder that everything of ponk on this machine lives in. Refuses one that runs
// cannot be kept in (read-only, on a network file system, nothing may be executed from it, open to
// others) with advice for who set up the target.
Result<> open_home(const Path& home);

// Makes the folder one of this version, as soon as runs of an earlier version there have ended:
// `unreachable` until then, for ever when a newer ponk wrote it, and when it cannot be done now.
// Any process may call.
Result<> open_format(const Path& home, const std::stop_token& stop);

// The folder as it was when we came: a disk that is not mounted any more, or mounted over, makes
// another one of it, which says nothing about its runs. A value.
class HomeIdentity {
public:
    static Result<HomeIdentity> of(const Path& home);

    // Tells it from other folders without telling what only it knows.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    // `unavailable` when the folder is another one now, or none.
    [[nodiscard]] Result<> check() const;

private:
    HomeIdentity(Path home, std::string key, std::string text)
        : home_(std::move(home)), key_(std::move(key)), text_(std::move(text))
    {
    }
    Path home_;
    std::string key_;
    std::string text_;
};

}  // namespace ponk::agent

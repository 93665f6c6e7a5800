// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <optional>
#include <stop_token>

namespace ponk::os {

// A lock on a file, held until destroyed; the kernel drops it when the process dies, however it
// dies. Made with flock: it belongs to this open file, so threads of one process exclude each
// other.
class FileLock {
public:
    enum class Kind { shared, exclusive };

    // Takes the lock on `path`, made when absent. nullopt when somebody holds it.
    static Result<std::optional<FileLock>> try_take(const Path& path, Kind kind);
    // Waits for it; `timeout` past the deadline.
    static Result<FileLock>
    take(const Path& path, Kind kind, Deadline deadline, std::stop_token stop);

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

private:
    explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
    Fd fd_;
};

}  // namespace ponk::os

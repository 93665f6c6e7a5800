// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mount.h>
#include <utility>

namespace ponk {

// For tests: a file system of a few megabytes at a folder, gone with this. Needs the right to
// mount.
class SmallDisk {
public:
    // `size` as mount has it: "3m".
    SmallDisk(os::Path folder, const std::string& size) : folder_(std::move(folder))
    {
        if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) != 0)
            problem_ = std::string("cannot mount a small file system: ") + std::strerror(errno);
    }
    ~SmallDisk()
    {
        if (problem_.empty()) ::umount2(folder_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    // Why it is not there; empty when it is.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    os::Path folder_;
    std::string problem_;
};

}  // namespace ponk

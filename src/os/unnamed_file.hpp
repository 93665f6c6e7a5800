// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"

#include <string>
#include <sys/types.h>

namespace ponk::os {

// A file being written that nobody sees until it is linked under its name. Where the file system
// has O_TMPFILE it has no name at all before, so a killed writer leaves nothing behind; elsewhere
// it has the name ".tmp-…" in its folder. Not shared between threads.
class UnnamedFile {
public:
    enum class Way { unnamed, temporary_name };  // the second for tests and old file systems
    enum class Outcome { created, already_there };

    // In the folder `folder`, which must outlive the object.
    static Result<UnnamedFile> create(int folder, mode_t mode, Way way = Way::unnamed);
    ~UnnamedFile();
    UnnamedFile(UnnamedFile&& other) noexcept;
    UnnamedFile& operator=(UnnamedFile&&) = delete;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // Gives the file its name below `folder`, never replacing one that is there.
    Result<Outcome> link_as(const std::string& name);
    // Asks the kernel to begin writing; `sync` waits for it.
    void start_sync() const;
    Result<> sync() const;

private:
    UnnamedFile(int folder, Fd fd, std::string temporary);

    int folder_;
    Fd fd_;
    std::string temporary_;  // empty when it has no name
};

}  // namespace ponk::os

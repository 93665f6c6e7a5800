// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

// Walking trees of many thousand files: one system call per file and no allocation per file. Calls
// for the inner loop return errno values (0 is success); their callers know the path for a message.
namespace ponk::os {

// What lstat says about one file, as far as a change shows in it.
struct FileStatus {
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    std::int64_t ctime_ns = 0;
    std::uint64_t inode = 0;
    std::uint64_t device = 0;
    std::uint32_t mode = 0;
    std::uint32_t links = 0;
    std::uint32_t owner = 0;

    [[nodiscard]] bool is_file() const noexcept;
    [[nodiscard]] bool is_folder() const noexcept;
    [[nodiscard]] bool is_link() const noexcept;
    [[nodiscard]] bool is_executable() const noexcept { return (mode & 0100U) != 0; }
    // Same file with the same contents, as far as the kernel tells: all but the link count.
    [[nodiscard]] bool same_version(const FileStatus& other) const noexcept
    {
        return size == other.size && mtime_ns == other.mtime_ns && ctime_ns == other.ctime_ns &&
               inode == other.inode && device == other.device && mode == other.mode;
    }
};

int status_of(int fd, FileStatus& out);
// Never follows a link.
int status_at(int folder, const char* name, FileStatus& out);

// Opens the folder `relative` ("" is `root` itself) below `root`, refusing links on the way. Paths
// longer than the kernel's PATH_MAX work. A negative result is -errno.
int open_folder_beneath(int root, const std::string& relative);

// The names of one folder in one buffer, reused from folder to folder.
class NameList {
public:
    struct Name {
        std::string_view text;  // NUL-terminated in the buffer
        unsigned char type;     // DT_REG, DT_DIR, DT_LNK…; never DT_UNKNOWN
        std::uint64_t inode;
    };

    // Replaces the contents by the names in `folder`, in the kernel's order.
    int read(int folder);
    [[nodiscard]] std::span<Name> names() noexcept { return names_; }

private:
    std::vector<char> buffer_;
    std::vector<Name> names_;
};

// Makes `to` share the blocks of `from` (reflink). False where the file system cannot.
bool share_contents(int from, int to);
bool share_range(int from, std::uint64_t offset, std::uint64_t length, int to, std::uint64_t at);
// True when [offset, offset+length) of the file is a hole and therefore all zeros.
bool is_hole(int fd, std::uint64_t offset, std::uint64_t length);
// True when no process has the file open for writing. False also when it cannot be told.
bool has_no_writer(int fd);

}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

// Files that survive crashes: whole reads with limits, writes that are there entirely or not at
// all.
namespace ponk::os {

using Path = std::filesystem::path;

// Paths come from users and may hold any bytes: for messages.
std::string in_quotes(const Path& path);

Result<Fd> open_file(const Path& path, int flags, mode_t mode = 0600);

// Opens for reading what must be a plain file: a FIFO put in its place cannot make us wait, and
// with `Links::refuse` a link cannot lead us elsewhere.
enum class Links { follow, refuse };
Result<Fd> open_regular(const Path& path, Links links = Links::follow);

// `not_found` when absent; `invalid_argument` when larger than `limit` or no plain file.
Result<std::string> read_file(const Path& path, std::uint64_t limit = std::uint64_t{1} << 30);
Result<std::optional<std::string>> read_file_if_any(const Path& path,
                                                    std::uint64_t limit = std::uint64_t{1} << 30);
// Up to `size` bytes from `offset`; fewer at the end of the file.
Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t size);
Result<> write_all(int fd, std::string_view bytes);

// Holes of a file read as zeros and take no room: nobody wrote them. From `offset` on, where the
// next written bytes begin, and where the next hole does; `end` when that is behind it. Moves the
// position of `fd`. Without help of the file system everything counts as written.
std::uint64_t data_from(int fd, std::uint64_t offset, std::uint64_t end);
std::uint64_t hole_from(int fd, std::uint64_t offset, std::uint64_t end);

// What outlives a power cut once a file is replaced: nothing for certain, the bytes if the new name
// is there (whoever syncs the folder next makes it so), or both.
enum class Durable { no, content, yes };
// Replaces `path` atomically: temporary name in the same folder, fsync, rename, fsync of the
// folder.
Result<> replace_file(const Path& path,
                      std::string_view bytes,
                      mode_t mode = 0600,
                      Durable durable = Durable::yes);
// Creates `path` with all of `bytes` or fails with `conflict` when it is there already.
Result<> publish_file(const Path& path, std::string_view bytes, mode_t mode = 0600);
// Flushes a folder, so that names made in it outlive a power cut.
Result<> sync_directory(const Path& path);

// mkdir -p; folders made get `mode`.
Result<> make_directories(const Path& path, mode_t mode = 0700);
// A new private folder "<prefix>XXXXXX" in `parent`.
Result<Path> make_temporary_directory(const Path& parent, std::string_view prefix);
// rm -rf that never follows a link. A path that is gone is a success.
Result<> remove_tree(const Path& path);
Result<std::uint64_t> free_space(const Path& path);

// Copies bytes: reflink, else copy_file_range, else read and write.
Result<> copy_contents(int from, int to);

}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <optional>
#include <string>

// Locks between users who do not trust each other's files. Everything here looks at what it opened,
// never at what a name stood for a moment ago.
namespace ponk::gpu {

using os::Path;

// The machine's folder below `root` ("/", or a made tree): the same one for all of its users.
Path lock_folder_of_machine(const Path& root);
// Opens the folder; refused when it is a link, or when not everybody may make files of their own
// in it, safe from others.
Result<os::Fd> open_lock_folder(const Path& path);
// The same, made with mode 1777 when it is not there.
Result<os::Fd> make_lock_folder(const Path& path);

// A file in a lock folder, refused unless it is a plain file with one name. nullopt when there is
// none. `access` is O_RDONLY or O_RDWR.
Result<std::optional<os::Fd>> find_lock_file(int folder, const std::string& name, int access);
// The same for reading and writing; made for everybody when there is none.
Result<os::Fd> open_lock_file(int folder, const std::string& name);

enum class LockKind { shared, exclusive };
// Takes or changes the lock of this open file; false when others hold what forbids it. It lives as
// long as the open file, in whichever processes, and changes from exclusive to shared without a
// gap.
Result<bool> try_lock(int fd, LockKind kind);
// True when another open file has any lock on it.
Result<bool> is_locked(int fd);
// False when the name has gone, or now belongs to another file.
bool is_named(int folder, const std::string& name, int fd);

}  // namespace ponk::gpu

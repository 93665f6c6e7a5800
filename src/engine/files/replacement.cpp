// SPDX-License-Identifier: Apache-2.0
#include "engine/files/replacement.hpp"

#include "base/text.hpp"
#include "engine/files/plain_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <utility>

namespace ponk::engine {

namespace {

constexpr mode_t permissions = 0777;
constexpr int attempts = 2;

// Whether the plain file `name` has that digest, now.
bool has_digest(int folder, const std::string& name, const Digest& digest)
{
    struct stat info {};
    const auto file = open_plain(folder, name, info);
    if (!file) return false;
    const auto text = read_text(*file, name);
    return text && sha256(*text) == digest;
}

}  // namespace

Replacement::Replacement(int folder, std::string name, os::Fd fd)
    : folder_(folder), name_(std::move(name)), fd_(std::move(fd))
{
}

Replacement::Replacement(Replacement&& other) noexcept
    : folder_(other.folder_), name_(std::exchange(other.name_, {})), fd_(std::move(other.fd_))
{
}

Replacement::~Replacement()
{
    if (!name_.empty() && is_our_file()) remove();
}

Result<Replacement> Replacement::create(int folder, const struct stat& like)
{
    for (;;) {
        auto name = ".tmp-" + to_hex(random_bytes(8));
        os::Fd fd(::openat(
            folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
        if (!fd && (errno == EEXIST || errno == EINTR)) continue;
        if (!fd) return fail_errno(errno, "create a temporary file");
        Replacement made(folder, std::move(name), std::move(fd));
        // Of another user's file that we may write the copy is ours; its group can stay.
        if (::fchown(made.fd(), like.st_uid, like.st_gid) != 0)
            static_cast<void>(::fchown(made.fd(), static_cast<uid_t>(-1), like.st_gid) == 0);
        if (::fchmod(made.fd(), like.st_mode & permissions) != 0)
            return fail_errno(errno, "create a temporary file");
        return made;
    }
}

bool Replacement::exchange_with(const std::string& name) const
{
    return ::renameat2(folder_, name_.c_str(), folder_, name.c_str(), RENAME_EXCHANGE) == 0;
}

bool Replacement::is_our_file() const
{
    struct stat ours {};
    struct stat there {};
    return ::fstat(fd_.get(), &ours) == 0 &&
           ::fstatat(folder_, name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

void Replacement::remove()
{
    ::unlinkat(folder_, name_.c_str(), 0);
    name_.clear();
}

// What was there is looked at when nobody can put something else in its place any more.
Result<bool> Replacement::replace(const std::string& name,
                                  const Digest& before,
                                  const Digest& own,
                                  const Visit& visit)
{
    if (!has_digest(folder_, name, before)) return false;
    if (visit) visit(Moment::looked_at);
    if (exchange_with(name)) {
        if (visit) visit(Moment::exchanged);
        if (!has_digest(folder_, name_, before)) return put_back(name, own, visit);
        remove();
        return true;
    }
    if (errno == ENOENT) return false;
    if (errno != EINVAL && errno != ENOSYS)
        return fail_errno(errno, "replace '{}'", printable(name));
    if (::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0)
        return fail_errno(errno, "replace '{}'", printable(name));
    name_.clear();
    return true;
}

// Our text comes back for what the exchange brought out. When something else comes, its writer was
// the last one: it is put back in turn.
Result<bool> Replacement::put_back(const std::string& name, const Digest& own, const Visit& visit)
{
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (exchange_with(name)) {
            if (visit) visit(Moment::put_back);
            if (is_our_file() && has_digest(folder_, name_, own)) return false;
            continue;
        }
        // Ours was deleted: its place is free.
        if (::renameat2(folder_, name_.c_str(), folder_, name.c_str(), RENAME_NOREPLACE) == 0) {
            name_.clear();
            return false;
        }
    }
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("another program changed '{}' several times while it was written; "
                          "a text of that program is in '{}' beside it",
                          printable(name),
                          std::exchange(name_, {})),
              "Compare the two files, and keep what you need. Your text was not written."));
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "db/recovery.hpp"

#include "base/text.hpp"
#include "base/time.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::db {

namespace {

constexpr const char* companions[] = {"-wal", "-shm", "-journal"};

bool has_bytes(const std::string& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

Result<> rename_if_there(const std::string& from, const std::string& to)
{
    if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
    return fail_errno(errno, "set aside {}", os::in_quotes(from));
}

}  // namespace

Result<Ownership> Ownership::take(const Path& lock_file)
{
    auto lock = TRY(os::FileLock::try_take(lock_file, os::FileLock::Kind::exclusive));
    if (!lock) {
        const auto owner = os::read_file(lock_file, 64).value_or("");
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("{} says that process {} has the database open",
                              os::in_quotes(lock_file),
                              owner.empty() ? "of another user" : trim(owner)),
                  "Only one may write to it. Use 'ponk daemon stop' to end the other one."));
    }
    const auto left = TRY(os::read_at(lock->fd(), 0, 64));
    const auto own = fmt::format("{}\n", ::getpid());
    const auto size = static_cast<off_t>(own.size());
    // In this order a crash in between leaves no empty file, which would mean a clean stop.
    if (::pwrite(lock->fd(), own.data(), own.size(), 0) != size ||
        ::ftruncate(lock->fd(), size) != 0 || ::fdatasync(lock->fd()) != 0)
        return fail_errno(errno, "write {}", os::in_quotes(lock_file));
    return Ownership(std::move(*lock), left.empty());
}

void Ownership::close_clean()
{
    // A failure here costs the next owner one check and nothing else.
    [[maybe_unused]] const int done = ::ftruncate(lock_.fd(), 0);
}

bool is_orphaned_log(const Path& database)
{
    return !has_bytes(database.native()) && has_bytes(database.native() + "-wal");
}

Result<Path> set_aside(const Path& database)
{
    auto stamp = utc_text(wall_milliseconds());
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    const auto aside = database.native() + ".damaged-" + stamp;
    for (const char* suffix : companions)
        TRY(rename_if_there(database.native() + suffix, aside + suffix));
    TRY(rename_if_there(database.native(), aside));
    TRY(os::sync_directory(database.parent_path()));
    return Path(aside);
}

Result<> put_back(const Path& backup, const Path& database)
{
    const auto from = TRY(os::open_file(backup, O_RDONLY));
    const Path part = database.native() + ".part";
    {
        const auto to = TRY(os::open_file(part, O_WRONLY | O_CREAT | O_TRUNC));
        TRY(os::copy_contents(from.get(), to.get()));
        if (::fsync(to.get()) != 0) return fail_errno(errno, "write {}", os::in_quotes(part));
    }
    if (::rename(part.c_str(), database.c_str()) != 0)
        return fail_errno(errno, "put back {}", os::in_quotes(database));
    return os::sync_directory(database.parent_path());
}

}  // namespace ponk::db

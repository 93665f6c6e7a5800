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

constexpr std::string_view clean_word = "clean";
constexpr std::string_view damaged_word = "damaged";
constexpr const char* companions[] = {"-wal", "-shm", "-journal"};

bool has_bytes(const std::string& path)
{
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && info.st_size > 0;
}

// In this order a crash in between leaves no empty file, which would mean a clean stop.
bool overwrite(int file, const std::string& text)
{
    const auto size = static_cast<off_t>(text.size());
    return ::pwrite(file, text.data(), text.size(), 0) == size && ::ftruncate(file, size) == 0;
}

Result<bool> rename_if_there(const std::string& from, const std::string& to)
{
    if (::rename(from.c_str(), to.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
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
    const auto left = TRY(os::read_at(lock->fd(), 0, 128));
    if (!overwrite(lock->fd(), fmt::format("{}\n", ::getpid())) || ::fdatasync(lock->fd()) != 0)
        return fail_errno(errno, "write {}", os::in_quotes(lock_file));
    if (left.starts_with(damaged_word)) return Ownership(std::move(*lock), Left::damaged, "");
    if (left.empty()) return Ownership(std::move(*lock), Left::clean, "");
    if (!left.starts_with(clean_word)) return Ownership(std::move(*lock), Left::killed, "");
    return Ownership(std::move(*lock),
                     Left::clean,
                     std::string(trim(std::string_view(left).substr(clean_word.size()))));
}

void Ownership::close_clean(const std::string& stamp) const
{
    // A failure here costs the next owner one check and nothing else.
    overwrite(lock_.fd(), fmt::format("{} {}\n", clean_word, stamp));
}

void Ownership::note_damage() const
{
    overwrite(lock_.fd(), fmt::format("{}\n", damaged_word));
}

std::string stamp_of(const Path& database)
{
    // stat, never open: closing a descriptor of the file would drop SQLite's locks on it.
    struct stat info {};
    if (::stat(database.c_str(), &info) != 0) return "none";
    return fmt::format(
        "{} {}.{:09} {}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino);
}

bool is_orphaned_log(const Path& database)
{
    return !has_bytes(database.native()) && has_bytes(database.native() + "-wal");
}

namespace {

std::string aside_name(const Path& database, const char* why)
{
    auto stamp = utc_text(wall_milliseconds());
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    auto aside = database.native() + why + stamp;
    struct stat info {};
    while (::lstat(aside.c_str(), &info) == 0)  // a clock that was set back: nothing is replaced
        aside += "+";
    return aside;
}

Result<bool> move_companions(const Path& database, const std::string& aside)
{
    bool any = false;
    for (const char* suffix : companions)
        any = TRY(rename_if_there(database.native() + suffix, aside + suffix)) || any;
    return any;
}

// The header says so; ours is in the mode of a write-ahead log as soon as there is one.
bool is_single_file(const Path& database)
{
    constexpr std::size_t mode_at = 18;
    constexpr char rollback = 1;
    const auto file = os::open_file(database, O_RDONLY);
    const auto header = file ? os::read_at(file->get(), 0, mode_at + 1) : std::string();
    return header && header->size() > mode_at && (*header)[mode_at] == rollback;
}

}  // namespace

Result<Path> set_foreign_log_aside(const Path& database)
{
    if (!has_bytes(database.native() + "-wal") || !is_single_file(database)) return Path();
    const auto aside = aside_name(database, ".replaced-");
    TRY(move_companions(database, aside));
    TRY(os::sync_directory(database.parent_path()));
    return Path(aside + "-wal");
}

Result<Path> set_aside(const Path& database)
{
    const auto aside = aside_name(database, ".damaged-");
    bool any = TRY(move_companions(database, aside));
    any = TRY(rename_if_there(database.native(), aside)) || any;
    TRY(os::sync_directory(database.parent_path()));
    return any ? Path(aside) : Path();
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

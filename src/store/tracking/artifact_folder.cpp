// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/artifact_folder.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <shared_mutex>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::store {

namespace {

// Files on their way in and trees on their way out. No path of a client begins like this: what
// stands there is the number of an experiment.
constexpr const char* incoming_name = ".incoming";
// So much is handed to the disk while the rest is still coming, which keeps the end short.
constexpr std::uint64_t sync_step = std::uint64_t{32} << 20;
constexpr std::uint64_t room_for_others = std::uint64_t{1} << 20;
constexpr std::size_t deepest = 200;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Shared: puts a file into folders that have to stay. Alone: takes folders away. Of all roots,
// since a folder is made for each call; nobody holds it for longer than a few names take.
std::shared_mutex& folders_stay()
{
    static std::shared_mutex mutex;
    return mutex;
}

std::string fresh_name()
{
    return to_hex(random_bytes(12));
}

Result<os::Fd> enter(int parent, const std::string& name)
{
    os::Fd folder(::openat(parent, name.c_str(), folder_flags));
    if (!folder) return fail_errno(errno, "open '{}'", printable(name));
    return folder;
}

Result<os::Fd> make_and_enter(int parent, const std::string& name)
{
    if (::mkdirat(parent, name.c_str(), 0700) == 0) {
        // Its name outlives a power cut once the folder above is flushed.
        if (::fsync(parent) != 0) return fail_errno(errno, "flush a folder");
    } else if (errno != EEXIST) {
        return fail_errno(errno, "create folder '{}'", printable(name));
    }
    return enter(parent, name);
}

tl::unexpected<Error> in_the_way(const std::string& name)
{
    return fail(ErrorKind::invalid_argument,
                "Invalid path: '{}' already exists and is of another kind",
                printable(name));
}

// The folder `path` below `root`, made if need be.
Result<os::Fd> make_folders(int root, const ArtifactPath& path)
{
    os::Fd folder = TRY(enter(root, "."));
    for (const auto& name : path.names()) {
        auto next = make_and_enter(folder.get(), name);
        if (!next) {
            struct stat info {};
            if (::fstatat(folder.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                !S_ISDIR(info.st_mode))
                return in_the_way(name);
            return next;
        }
        folder = std::move(*next);
    }
    return folder;
}

// Those of a file that never came.
void remove_empty_folders(int root, ArtifactPath path)
{
    const std::unique_lock alone(folders_stay());
    for (; !path.is_root(); path = path.parent()) {
        const os::Fd parent(os::open_folder_beneath(root, path.parent().text()));
        if (!parent || ::unlinkat(parent.get(), path.name().c_str(), AT_REMOVEDIR) != 0) return;
    }
}

// -errno when it is not there.
int open_folder(const os::Path& root, const ArtifactPath& path)
{
    const os::Fd top(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!top) return -errno;
    return os::open_folder_beneath(top.get(), path.text());
}

bool is_absent(int problem)
{
    return problem == ENOENT || problem == ENOTDIR || problem == ELOOP || problem == EXDEV ||
           problem == ENAMETOOLONG;
}

Result<> walk_folder(int folder,
                     const std::string& prefix,
                     std::size_t depth,
                     const ArtifactFolder::OnFile& on_file)
{
    TRY(check_work());
    for (const auto& entry : TRY(os::list_directory(folder))) {
        const auto path = prefix + entry.name;
        if (entry.type == DT_DIR && depth < deepest) {
            const auto below = enter(folder, entry.name);
            if (below) TRY(walk_folder(below->get(), path + "/", depth + 1, on_file));
        }
        os::FileStatus status;
        if (entry.type == DT_REG && os::status_at(folder, entry.name.c_str(), status) == 0)
            on_file(path, status.size);
    }
    return {};
}

}  // namespace

ArtifactUpload::ArtifactUpload(os::Fd root, os::Fd incoming, os::UnnamedFile file)
    : root_(std::move(root)), incoming_(std::move(incoming)), file_(std::move(file))
{
}

Result<> ArtifactUpload::write(std::string_view bytes)
{
    TRY(os::write_all(file_.fd(), bytes).map_error(while_doing("store an artifact")));
    unsynced_ += bytes.size();
    if (unsynced_ >= sync_step) {
        file_.start_sync();
        unsynced_ = 0;
    }
    return {};
}

Result<> ArtifactUpload::publish(const ArtifactPath& path)
{
    if (path.is_root()) return fail(ErrorKind::invalid_argument, "Invalid path: it is empty");
    // What is stored can be listed, see `walk`.
    if (path.names().size() > deepest)
        return fail(
            ErrorKind::invalid_argument, "Invalid path: it has more than {} folders", deepest - 1);
    TRY(file_.sync());
    // What has no name cannot replace anything: it gets one here first, which a sweep knows.
    const auto temporary = fresh_name();
    TRY(file_.link_as(temporary));
    auto renamed = rename_to(path, temporary);
    if (!renamed) {
        ::unlinkat(incoming_.get(), temporary.c_str(), 0);
        remove_empty_folders(root_.get(), path.parent());
    }
    return renamed;
}

Result<> ArtifactUpload::rename_to(const ArtifactPath& path, const std::string& temporary) const
{
    os::Fd folder;
    {
        const std::shared_lock stay(folders_stay());
        folder = TRY(make_folders(root_.get(), path.parent()));
        if (::renameat(incoming_.get(), temporary.c_str(), folder.get(), path.name().c_str()) !=
            0) {
            if (errno == EISDIR || errno == ENOTDIR) return in_the_way(path.name());
            return fail_errno(errno, "publish '{}'", printable(path.text()));
        }
    }
    if (::fsync(folder.get()) != 0) return fail_errno(errno, "flush a folder");
    return {};
}

Result<ArtifactUpload> ArtifactFolder::receive(std::optional<std::uint64_t> expected) const
{
    TRY(os::make_directories(root_));
    auto root = TRY(os::open_file(root_, O_RDONLY | O_DIRECTORY));
    auto incoming = TRY(make_and_enter(root.get(), incoming_name));
    if (expected) {
        const auto room = TRY(os::free_space(root_));
        if (room < *expected || room - *expected < room_for_others) {
            return tl::unexpected(Error(ErrorKind::unavailable,
                                        fmt::format("no room for an artifact of {}: {} are free",
                                                    byte_size_text(*expected),
                                                    byte_size_text(room)),
                                        "The disk is full: free some space, then try again."));
        }
    }
    auto file = TRY(os::UnnamedFile::create(incoming.get(), 0600));
    return ArtifactUpload(std::move(root), std::move(incoming), std::move(file));
}

Result<ArtifactFolder::Found> ArtifactFolder::find(const ArtifactPath& path) const
{
    Found found;
    const os::Fd parent(open_folder(root_, path.is_root() ? path : path.parent()));
    if (!parent) {
        const int problem = -parent.get();
        if (problem == ENOTDIR) found.kind = Found::Kind::blocked;
        if (is_absent(problem)) return found;
        return fail_errno(problem, "open the folder of '{}'", printable(path.text()));
    }
    const std::string name = path.is_root() ? "." : path.name();
    // Whatever it is, opening it neither waits nor leads elsewhere.
    os::Fd file(::openat(
        parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file) {
        if (is_absent(errno) || errno == ENXIO) return found;
        return fail_errno(errno, "open '{}'", printable(path.text()));
    }
    os::FileStatus status;
    if (const int problem = os::status_of(file.get(), status))
        return fail_errno(problem, "check '{}'", printable(path.text()));
    if (status.is_folder()) found.kind = Found::Kind::folder;
    if (!status.is_file()) return found;
    found.kind = Found::Kind::file;
    found.file = {std::move(file),
                  status.size,
                  status.mtime_ns / 1'000'000,
                  fmt::format("{:x}-{:x}-{:x}", status.size, status.mtime_ns, status.inode)};
    return found;
}

Result<std::optional<std::vector<ArtifactFolder::Entry>>>
ArtifactFolder::list(const ArtifactPath& path) const
{
    const os::Fd folder(open_folder(root_, path));
    if (!folder) {
        if (is_absent(-folder.get())) return std::optional<std::vector<Entry>>();
        return fail_errno(-folder.get(), "list '{}'", printable(path.text()));
    }
    std::vector<Entry> entries;
    for (const auto& item : TRY(os::list_directory(folder.get()))) {
        os::FileStatus status;
        if (item.type == DT_DIR) {
            entries.push_back({Entry::Kind::folder, item.name, 0});
        } else if (item.type == DT_REG &&
                   os::status_at(folder.get(), item.name.c_str(), status) == 0) {
            entries.push_back({Entry::Kind::file, item.name, status.size});
        }
    }
    return std::optional(std::move(entries));
}

Result<> ArtifactFolder::walk(const ArtifactPath& path, const OnFile& on_file) const
{
    const os::Fd folder(open_folder(root_, path));
    if (!folder) {
        if (is_absent(-folder.get())) return {};
        return fail_errno(-folder.get(), "list '{}'", printable(path.text()));
    }
    return walk_folder(folder.get(), "", 0, on_file);
}

Result<> ArtifactFolder::remove(const ArtifactPath& path) const
{
    if (path.is_root()) return fail(ErrorKind::invalid_argument, "Invalid path: it is empty");
    const os::Fd parent(open_folder(root_, path.parent()));
    if (!parent) {
        if (is_absent(-parent.get())) return {};
        return fail_errno(-parent.get(), "open the folder of '{}'", printable(path.text()));
    }
    os::FileStatus status;
    const int problem = os::status_at(parent.get(), path.name().c_str(), status);
    if (is_absent(problem)) return {};
    if (problem != 0) return fail_errno(problem, "check '{}'", printable(path.text()));
    if (!status.is_folder()) {
        if (::unlinkat(parent.get(), path.name().c_str(), 0) != 0 && errno != ENOENT)
            return fail_errno(errno, "remove '{}'", printable(path.text()));
        return {};
    }
    // Away at once, whatever it holds; then piece by piece.
    const auto root = TRY(os::open_file(root_, O_RDONLY | O_DIRECTORY));
    const auto incoming = TRY(make_and_enter(root.get(), incoming_name));
    const auto name = fresh_name();
    {
        const std::unique_lock alone(folders_stay());
        if (::renameat(parent.get(), path.name().c_str(), incoming.get(), name.c_str()) != 0) {
            if (errno == ENOENT) return {};
            return fail_errno(errno, "remove '{}'", printable(path.text()));
        }
    }
    return os::remove_tree(root_ / incoming_name / name);
}

Result<> ArtifactFolder::sweep() const
{
    const auto incoming = root_ / incoming_name;
    const auto left = os::list_directory(incoming);
    if (!left) {
        if (left.error().kind() == ErrorKind::not_found) return {};
        return tl::unexpected(left.error());
    }
    for (const auto& entry : *left)
        TRY(os::remove_tree(incoming / entry.name));
    return {};
}

}  // namespace ponk::store

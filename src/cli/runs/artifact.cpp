// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/artifact.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "cli/terminal/progress_line.hpp"
#include "net/target.hpp"
#include "os/directory.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

// Asks again from the place where a connection broke: a daemon that was replaced goes on there, one
// that met a damaged piece says so.
Result<>
fetch(Daemon& daemon, const std::string& run_id, const std::string& artifact, const os::Fd& file)
{
    ProgressLine progress(STDERR_FILENO);
    Deadline next = after(std::chrono::milliseconds(200));
    std::uint64_t done = 0;
    std::optional<Error> problem;
    const auto take = [&](std::string_view bytes) {
        auto written = os::write_all(file.get(), bytes);
        if (!written) problem = written.error();
        done += bytes.size();
        if (Deadline::clock::now() >= next) {
            progress.show(fmt::format("download: {} of '{}'", byte_size_text(done), artifact));
            next = after(std::chrono::milliseconds(200));
        }
        return written.has_value();
    };
    for (int left = 3;; --left) {
        const auto before = done;
        const auto target = fmt::format("{}&offset={}", artifact_path(run_id, artifact), done);
        const auto streamed = daemon.stream(target, take, answer_limit);
        if (problem) return tl::unexpected(*problem);
        if (streamed) break;
        if (streamed.error().kind() != ErrorKind::unavailable) return streamed;
        if (left == 0 && done == before) return streamed;
        if (done != before) left = 3;
        TRY(daemon.again());
    }
    if (::fsync(file.get()) != 0) return fail_errno(errno, "write the file");
    return {};
}

Error is_there(const os::Path& path)
{
    return {ErrorKind::conflict,
            fmt::format("{} already exists", os::in_quotes(path)),
            "Use '--overwrite' to replace it, or '-d FOLDER' for another folder."};
}

Error no_folder(const os::Path& path)
{
    return {ErrorKind::conflict,
            fmt::format("{} is not a folder", os::in_quotes(path)),
            "Give an existing or new folder with '-d FOLDER'."};
}

// Opens the folder that the user named, made if need be.
Result<os::Fd> open_destination(const os::Path& folder)
{
    std::error_code ignored;
    for (os::Path above = folder; !above.empty(); above = above.parent_path()) {
        const auto status = std::filesystem::status(above, ignored);
        if (std::filesystem::is_directory(status)) break;
        if (std::filesystem::exists(status)) return tl::unexpected(no_folder(above));
        if (above == above.parent_path()) break;
    }
    TRY(os::make_directories(folder, 0755));
    return os::open_file(folder, O_RDONLY | O_DIRECTORY);
}

// Where a file will be. Its folder is open, so that no link that comes to be on the way can lead it
// elsewhere.
struct Place {
    os::Fd parent;
    std::string name;
    os::Path path;  // for messages

    [[nodiscard]] std::string partial() const
    {
        return name.substr(0, 200) + "." + to_hex(random_bytes(4)) + ".ponk-partial";
    }
};

// The folder `name` below `parent`, made if need be and never reached through a link.
Result<os::Fd> enter(int parent, const os::Path& name, const os::Path& path)
{
    if (::mkdirat(parent, name.c_str(), 0755) != 0 && errno != EEXIST)
        return fail_errno(errno, "make folder {}", os::in_quotes(path));
    auto folder = os::open_beneath(parent, name, O_RDONLY | O_DIRECTORY);
    struct stat info {};
    if (folder || ::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return folder;
    if (S_ISLNK(info.st_mode)) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  fmt::format("{} is a symbolic link; ponk does not write through links",
                              os::in_quotes(path)),
                  "Remove it, or give another folder with '-d FOLDER'."));
    }
    if (!S_ISDIR(info.st_mode)) return tl::unexpected(no_folder(path));
    return folder;
}

// Free, and in a folder that is there.
Result<Place> prepare(const os::Path& folder, const os::Path& name, Overwrite overwrite)
{
    os::Fd parent = TRY(open_destination(folder));
    os::Path path = folder;
    for (const os::Path& part : name.parent_path()) {
        path /= part;
        parent = TRY(enter(parent.get(), part, path));
    }
    path = (path / name.filename()).lexically_normal();
    struct stat info {};
    const bool there =
        ::fstatat(parent.get(), name.filename().c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("{} is a folder", os::in_quotes(path)),
                                    "Give another folder with '-d FOLDER'."));
    }
    if (there && overwrite == Overwrite::no) return tl::unexpected(is_there(path));
    return Place{std::move(parent), name.filename().native(), std::move(path)};
}

// Gives the finished file its name. Somebody may have made one of that name meanwhile.
Result<> publish(const Place& place, const std::string& partial, Overwrite overwrite)
{
    const int parent = place.parent.get();
    const unsigned flags = overwrite == Overwrite::yes ? 0 : RENAME_NOREPLACE;
    if (::renameat2(parent, partial.c_str(), parent, place.name.c_str(), flags) == 0) return {};
    int problem = errno;
    if (problem == EINVAL && overwrite == Overwrite::no) {  // the file system knows no such flag
        if (::linkat(parent, partial.c_str(), parent, place.name.c_str(), 0) == 0) {
            ::unlinkat(parent, partial.c_str(), 0);
            return {};
        }
        problem = errno;
    }
    ::unlinkat(parent, partial.c_str(), 0);
    if (problem == EEXIST) return tl::unexpected(is_there(place.path));
    return fail_errno(problem, "rename to {}", os::in_quotes(place.path));
}

}  // namespace

Result<os::Path> safe_relative(const std::string& artifact)
{
    const os::Path path(artifact);
    bool bad = path.empty() || path.is_absolute() || !path.has_filename();
    for (const os::Path& part : path)
        bad = bad || part == ".." || part == ".";
    if (bad) {
        return fail(ErrorKind::invalid_argument,
                    "artifact '{}' has a path that would leave the folder",
                    printable(artifact));
    }
    return path;
}

std::string artifact_path(const std::string& run_id, std::string_view artifact)
{
    return "/runs/" + run_id + "/artifact?path=" + net::percent_encode(artifact);
}

Result<os::Path> download_artifact(Daemon& daemon,
                                   const std::string& run_id,
                                   const std::string& artifact,
                                   const os::Path& folder,
                                   const os::Path& name,
                                   Overwrite overwrite)
{
    const Place place = TRY(prepare(folder, name, overwrite));
    const std::string partial = place.partial();
    {
        const os::Fd file(::openat(place.parent.get(),
                                   partial.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                   0644));
        if (!file) return fail_errno(errno, "create {}", os::in_quotes(place.path));
        auto fetched = fetch(daemon, run_id, artifact, file);
        if (!fetched) {
            ::unlinkat(place.parent.get(), partial.c_str(), 0);
            return tl::unexpected(
                fetched.error().within(fmt::format("download '{}'", printable(artifact))));
        }
    }
    TRY(publish(place, partial, overwrite));
    return place.path;
}

Result<os::Path> make_artifact_link(const std::string& target,
                                    const os::Path& folder,
                                    const os::Path& name,
                                    Overwrite overwrite)
{
    const Place place = TRY(prepare(folder, name, overwrite));
    const std::string partial = place.partial();
    if (::symlinkat(target.c_str(), place.parent.get(), partial.c_str()) != 0)
        return fail_errno(errno, "make link {}", os::in_quotes(place.path));
    TRY(publish(place, partial, overwrite));
    return place.path;
}

}  // namespace ponk::cli

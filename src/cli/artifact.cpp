// SPDX-License-Identifier: Apache-2.0
#include "cli/artifact.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "cli/progress_line.hpp"
#include "net/target.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
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
            fmt::format("{} is there already", os::in_quotes(path)),
            "'--overwrite' replaces it; '-d FOLDER' names another place."};
}

// What is in the way of a new file, if anything.
Result<> check_free(const os::Path& folder, const os::Path& path, Overwrite overwrite)
{
    std::error_code ignored;
    for (os::Path above = folder; !above.empty(); above = above.parent_path()) {
        const auto status = std::filesystem::status(above, ignored);
        if (std::filesystem::is_directory(status)) break;
        if (std::filesystem::exists(status)) {
            return tl::unexpected(Error(ErrorKind::conflict,
                                        fmt::format("{} is no folder", os::in_quotes(above)),
                                        "Name a folder, there already or new, with '-d FOLDER'."));
        }
        if (above == above.parent_path()) break;
    }
    const auto status = std::filesystem::symlink_status(path, ignored);
    if (std::filesystem::is_directory(status)) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("{} is a folder", os::in_quotes(path)),
                                    "Name another folder with '-d FOLDER'."));
    }
    if (overwrite == Overwrite::no && std::filesystem::exists(status))
        return tl::unexpected(is_there(path));
    return {};
}

// Gives the finished file its name. Somebody may have made one of that name meanwhile.
Result<> publish(const os::Path& partial, const os::Path& path, Overwrite overwrite)
{
    const unsigned flags = overwrite == Overwrite::yes ? 0 : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, path.c_str(), flags) == 0) return {};
    int problem = errno;
    if (problem == EINVAL && overwrite == Overwrite::no) {  // the file system knows no such flag
        if (::link(partial.c_str(), path.c_str()) == 0) {
            ::unlink(partial.c_str());
            return {};
        }
        problem = errno;
    }
    ::unlink(partial.c_str());
    if (problem == EEXIST) return tl::unexpected(is_there(path));
    return fail_errno(problem, "rename to {}", os::in_quotes(path));
}

os::Path partial_name(const os::Path& path)
{
    return path.string() + "." + to_hex(random_bytes(4)) + ".ponk-partial";
}

// Where the file will be: free, and in a folder that is there.
Result<os::Path> prepare(const os::Path& folder, const os::Path& name, Overwrite overwrite)
{
    const os::Path path = (folder / name).lexically_normal();
    TRY(check_free(folder, path, overwrite));
    if (path.has_parent_path()) TRY(os::make_directories(path.parent_path(), 0755));
    return path;
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
    const os::Path path = TRY(prepare(folder, name, overwrite));
    const os::Path partial = partial_name(path);
    {
        const os::Fd file =
            TRY(os::open_file(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
        auto fetched = fetch(daemon, run_id, artifact, file);
        if (!fetched) {
            ::unlink(partial.c_str());
            return tl::unexpected(
                fetched.error().within(fmt::format("download '{}'", printable(artifact))));
        }
    }
    TRY(publish(partial, path, overwrite));
    return path;
}

Result<os::Path> make_artifact_link(const std::string& target,
                                    const os::Path& folder,
                                    const os::Path& name,
                                    Overwrite overwrite)
{
    const os::Path path = TRY(prepare(folder, name, overwrite));
    const os::Path partial = partial_name(path);
    if (::symlink(target.c_str(), partial.c_str()) != 0)
        return fail_errno(errno, "make link {}", os::in_quotes(path));
    TRY(publish(partial, path, overwrite));
    return path;
}

}  // namespace ponk::cli

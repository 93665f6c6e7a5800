// SPDX-License-Identifier: Apache-2.0
#include "cli/artifact.hpp"

#include "base/text.hpp"
#include "cli/progress_line.hpp"
#include "net/target.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

Result<> fetch(Daemon& daemon, const std::string& run_id, const std::string& artifact, int file)
{
    std::optional<Error> problem;
    ProgressLine progress(STDERR_FILENO);
    std::uint64_t got = 0;
    Deadline next = after(std::chrono::milliseconds(200));
    TRY(daemon.stream(
        artifact_path(run_id, artifact),
        [&](std::string_view bytes) {
            got += bytes.size();
            if (Deadline::clock::now() >= next) {
                progress.show(fmt::format("download: {} of '{}'", byte_size_text(got), artifact));
                next = after(std::chrono::milliseconds(200));
            }
            auto written = os::write_all(file, bytes);
            if (!written) problem = written.error();
            return written.has_value();
        },
        answer_limit));
    if (problem) return tl::unexpected(*problem);
    if (::fsync(file) != 0) return fail_errno(errno, "write the file");
    return {};
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
    if (overwrite == Overwrite::no && std::filesystem::exists(status)) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("{} is there already", os::in_quotes(path)),
                                    "'--overwrite' replaces it; '-d FOLDER' names another place."));
    }
    return {};
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
    const os::Path path = (folder / name).lexically_normal();
    TRY(check_free(folder, path, overwrite));
    if (path.has_parent_path()) TRY(os::make_directories(path.parent_path(), 0755));
    const os::Path partial = path.string() + ".ponk-partial";
    {
        const os::Fd file =
            TRY(os::open_file(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644));
        auto fetched = fetch(daemon, run_id, artifact, file.get());
        if (!fetched) {
            ::unlink(partial.c_str());
            return tl::unexpected(
                fetched.error().within(fmt::format("download '{}'", printable(artifact))));
        }
    }
    if (::rename(partial.c_str(), path.c_str()) != 0) {
        return fail_errno(errno, "rename to {}", os::in_quotes(path));
    }
    return path;
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/artifact.hpp"

#include "base/text.hpp"
#include "net/target.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

Result<os::Path> safe_relative(const std::string& artifact)
{
    const os::Path path(artifact);
    bool bad = path.empty() || path.is_absolute();
    for (const os::Path& part : path)
        bad = bad || part == ".." || part == ".";
    if (bad) {
        return fail(ErrorKind::invalid_argument,
                    "artifact '{}' has a path that would leave the folder",
                    printable(artifact));
    }
    return path;
}

Result<> fetch(Daemon& daemon, const std::string& target, const os::Fd& file)
{
    std::optional<Error> problem;
    TRY(daemon.stream(
        target,
        [&](std::string_view bytes) {
            auto written = os::write_all(file.get(), bytes);
            if (!written) problem = written.error();
            return written.has_value();
        },
        answer_limit));
    if (problem) return tl::unexpected(*problem);
    if (::fsync(file.get()) != 0) return fail_errno(errno, "write the file");
    return {};
}

}  // namespace

std::string artifact_path(const std::string& run_id, std::string_view artifact)
{
    return "/runs/" + run_id + "/artifact?path=" + net::percent_encode(artifact);
}

Result<os::Path> download_artifact(Daemon& daemon,
                                   const std::string& run_id,
                                   const std::string& artifact,
                                   const os::Path& folder,
                                   Overwrite overwrite)
{
    const os::Path path = folder / TRY(safe_relative(artifact));
    std::error_code ignored;
    if (overwrite == Overwrite::no &&
        std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
        return tl::unexpected(Error(ErrorKind::conflict,
                                    fmt::format("{} is there already", os::in_quotes(path)),
                                    "'--overwrite' replaces it."));
    }
    TRY(os::make_directories(path.parent_path(), 0755));
    const os::Path partial = path.string() + ".ponk-partial";
    {
        const os::Fd file =
            TRY(os::open_file(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644));
        auto fetched = fetch(daemon, artifact_path(run_id, artifact), file);
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

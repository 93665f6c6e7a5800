// SPDX-License-Identifier: Apache-2.0
#include "relay/artifacts.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/artifact_path.hpp"
#include "os/directory.hpp"
#include "os/tree.hpp"
#include "os/unnamed_file.hpp"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::relay {

namespace {

enum class Missing { refuse, make };

tl::unexpected<Error> no_such(const ArtifactPlace& place)
{
    return fail(ErrorKind::not_found, "No such artifact: '{}'", join(place.segments, "/"));
}

Result<os::Fd> open_outputs(const model::Tracking& tracking, Missing missing)
{
    if (missing == Missing::make) TRY(os::make_directories(tracking.outputs, 0755));
    return os::open_file(tracking.outputs, O_RDONLY | O_DIRECTORY);
}

// One folder after the other, never through a link.
Result<os::Fd>
open_folder(const model::Tracking& tracking, std::span<const std::string> segments, Missing missing)
{
    auto folder = TRY(open_outputs(tracking, missing));
    for (const auto& name : segments) {
        if (missing == Missing::make && ::mkdirat(folder.get(), name.c_str(), 0777) != 0 &&
            errno != EEXIST)
            return fail_errno(errno, "create the folder '{}'", name);
        os::Fd next(
            ::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next && (errno == ENOTDIR || errno == ELOOP))
            return fail(ErrorKind::invalid_argument, "Invalid path: '{}' is not a folder", name);
        if (!next) return fail_errno(errno, "open the folder '{}'", name);
        folder = std::move(next);
    }
    return folder;
}

Result<os::Fd>
open_parent(const model::Tracking& tracking, const ArtifactPlace& place, Missing missing)
{
    if (place.segments.size() <= place.root)
        return fail(ErrorKind::invalid_argument, "Invalid path: it is not a file");
    return open_folder(
        tracking, std::span(place.segments).first(place.segments.size() - 1), missing);
}

// A full disk may have room later; the client asks again.
Error in_kind(const Error& error)
{
    const bool ours =
        error.kind() == ErrorKind::invalid_argument || error.kind() == ErrorKind::not_found;
    return ours ? error : Error(ErrorKind::unavailable, error.message(), error.hint());
}

// "bytes=5-9", "bytes=5-", "bytes=-5" of a file of `size` bytes; nullopt: all of it.
struct Range {
    std::uint64_t first;
    std::uint64_t count;
};
std::optional<Range> parse_range(std::string_view text, std::uint64_t size)
{
    if (!text.starts_with("bytes=")) return std::nullopt;
    const auto parts = split(text.substr(6), '-');
    if (parts.size() != 2) return std::nullopt;
    const auto first = parse_integer(parts[0]);
    const auto last = parse_integer(parts[1]);
    if (parts[0].empty() && last && *last > 0) {
        const auto count = std::min<std::uint64_t>(static_cast<std::uint64_t>(*last), size);
        return Range{size - count, count};
    }
    if (!first || *first < 0 || (!parts[1].empty() && (!last || *last < *first)))
        return std::nullopt;
    const auto begin = static_cast<std::uint64_t>(*first);
    if (begin >= size) return Range{begin, 0};
    const auto end =
        last ? std::min<std::uint64_t>(static_cast<std::uint64_t>(*last) + 1, size) : size;
    return Range{begin, end - begin};
}

std::string attachment(const std::string& name)
{
    std::string plain;
    for (const char c : name)
        plain += c >= ' ' && c < '\x7f' && c != '"' && c != '\\' ? c : '_';
    return "attachment; filename=\"" + plain + "\"";
}

}  // namespace

std::optional<ArtifactPlace> place_of(const TrackedState& state,
                                      const model::Tracking& tracking,
                                      std::span<const std::string> path)
{
    if (path.size() < 3 || path[0] != tracking.experiment) return std::nullopt;
    ArtifactPlace place;
    if (path[1] == "models" && path.size() >= 4 && path[3] == "artifacts") {
        if (!state.find_model(path[2])) return std::nullopt;
        place.segments = {"models", path[2]};
        path = path.subspan(4);
    } else if (path[1] == "traces" && path.size() >= 4 && path[3] == "artifacts") {
        if (!state.has_trace(path[2])) return std::nullopt;
        place.segments = {"traces", path[2]};
        path = path.subspan(4);
    } else if (path[2] == "artifacts" && state.find_run(path[1])) {
        if (path[1] != tracking.run) place.segments = {"runs", path[1]};
        path = path.subspan(3);
    } else {
        return std::nullopt;
    }
    place.root = place.segments.size();
    place.segments.insert(place.segments.end(), path.begin(), path.end());
    return place;
}

namespace {

// What the daemon would not show afterwards is not taken now.
Result<> check_names(const ArtifactPlace& place)
{
    const auto inside = std::span(place.segments).subspan(place.root);
    TRY(model::ArtifactPath::parse(join({inside.begin(), inside.end()}, "/")));
    return {};
}

}  // namespace

Result<> store_artifact(const model::Tracking& tracking, const ArtifactPlace& place, Body& body)
{
    TRY(check_names(place));
    const auto folder = TRY(open_parent(tracking, place, Missing::make).map_error(in_kind));
    auto file = TRY(os::UnnamedFile::create(folder.get(), 0644).map_error(in_kind));
    for (;;) {
        const auto piece = TRY(body.next());
        if (piece.empty()) break;
        TRY(os::write_all(file.fd(), piece).map_error(in_kind));
    }
    TRY(file.sync().map_error(in_kind));
    // Linked under a name of its own, then moved over what is there.
    const auto temporary = ".mlflow-" + to_hex(random_bytes(8));
    TRY(file.link_as(temporary).map_error(in_kind));
    const auto& name = place.segments.back();
    if (::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) {
        const int problem = errno;
        ::unlinkat(folder.get(), temporary.c_str(), 0);
        if (problem == EISDIR || problem == ENOTEMPTY || problem == ENAMETOOLONG)
            return fail(ErrorKind::invalid_argument, "Invalid path: '{}' cannot be a file", name);
        return tl::unexpected(in_kind(system_error(problem, "store an artifact")));
    }
    if (::fsync(folder.get()) != 0)
        return tl::unexpected(in_kind(system_error(errno, "store an artifact")));
    return {};
}

Result<FileAnswer>
open_artifact(const model::Tracking& tracking, const ArtifactPlace& place, const std::string& range)
{
    const auto folder = open_parent(tracking, place, Missing::refuse);
    if (!folder && folder.error().kind() == ErrorKind::invalid_argument)
        return tl::unexpected(folder.error());
    if (!folder) return no_such(place);
    FileAnswer out;
    out.file = os::Fd(::openat(folder->get(),
                               place.segments.back().c_str(),
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (!out.file || ::fstat(out.file.get(), &info) != 0) return no_such(place);
    if (!S_ISREG(info.st_mode))
        return fail(ErrorKind::invalid_argument, "Invalid path: it is not a file");
    const auto size = static_cast<std::uint64_t>(info.st_size);
    out.size = size;
    out.head.type = "application/octet-stream";
    out.head.headers = {{"Content-Disposition", attachment(place.segments.back())},
                        {"X-Content-Type-Options", "nosniff"},
                        {"Accept-Ranges", "bytes"}};
    if (const auto wanted = parse_range(range, size)) {
        out.offset = wanted->first;
        out.size = wanted->count;
        out.head.status = wanted->count == 0 ? 416 : 206;
        const auto what =
            wanted->count == 0
                ? fmt::format("bytes */{}", size)
                : fmt::format(
                      "bytes {}-{}/{}", wanted->first, wanted->first + wanted->count - 1, size);
        out.head.headers.emplace_back("Content-Range", what);
    }
    return out;
}

Result<JsonArray>
list_artifacts(const model::Tracking& tracking, const ArtifactPlace& place, Names names)
{
    JsonArray files;
    const auto folder = open_folder(tracking, place.segments, Missing::refuse);
    if (!folder) return files;
    std::string before;
    if (names == Names::from_root) {
        for (const auto& segment : std::span(place.segments).subspan(place.root))
            before += segment + "/";
    }
    for (const auto& entry : TRY(os::list_directory(folder->get()))) {
        os::FileStatus status;
        if (os::status_at(folder->get(), entry.name.c_str(), status) != 0) continue;
        if (!status.is_file() && !status.is_folder()) continue;
        JsonObject file{{"path", before + entry.name}, {"is_dir", status.is_folder()}};
        if (status.is_file() && status.size > 0) file.append("file_size", status.size);
        files.emplace_back(std::move(file));
    }
    return files;
}

Result<> remove_artifact(const model::Tracking& tracking, const ArtifactPlace& place)
{
    const auto folder = open_parent(tracking, place, Missing::refuse);
    if (!folder) {
        // What is not there need not go.
        if (folder.error().kind() == ErrorKind::invalid_argument)
            return tl::unexpected(folder.error());
        return {};
    }
    return os::remove_tree(os::Path(fmt::format("/proc/self/fd/{}", folder->get())) /
                           place.segments.back())
        .map_error(in_kind);
}

}  // namespace ponk::relay

// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/unpacker.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor::docker {

namespace {

using dockerapi::TarEntry;

constexpr std::size_t most_told = 100;
// A script can make any number of pipes.
constexpr std::size_t most_remembered = 10'000;

std::string sockets_left_out(const std::string& first, std::size_t count)
{
    if (count == 1) return os::in_quotes(first) + " is a socket and was left out";
    return fmt::format(
        "{} and {} more are sockets and were left out", os::in_quotes(first), count - 1);
}

}  // namespace

Result<os::Fd> Unpacker::parent_of(const Path& path) const
{
    return os::open_beneath(
        root_.get(), path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
}

Result<> Unpacker::begin(const TarEntry& entry)
{
    file_.reset();
    const Path path = Path(entry.path).relative_path().lexically_normal();
    if (path.empty() || *path.begin() == "..")
        return fail(
            ErrorKind::damaged, "the archive contains {}, outside its folder", os::in_quotes(path));
    if (entry.kind == TarEntry::Kind::folder) return make_folder(path);
    if (entry.kind == TarEntry::Kind::other) return take_other(entry, path);
    const auto parent = TRY(parent_of(path));
    const auto name = path.filename().string();
    if (entry.kind == TarEntry::Kind::link) {
        if (::symlinkat(entry.link.c_str(), parent.get(), name.c_str()) != 0 && errno != EEXIST)
            return fail_errno(errno, "create the link {}", os::in_quotes(path));
    } else if (entry.kind == TarEntry::Kind::file) {
        file_ = TRY(os::open_beneath(
            root_.get(), path, O_WRONLY | O_CREAT | O_EXCL, (entry.mode & 0777U) | 0600U));
    }
    return {};
}

Result<> Unpacker::data(std::string_view bytes)
{
    return file_ ? os::write_all(file_.get(), bytes) : Result<>();
}

// The archive has a file of several names once; the others are links to the first.
Result<> Unpacker::take_other(const TarEntry& entry, const Path& path)
{
    const Path first = Path(entry.link).relative_path().lexically_normal();
    if (!entry.link.empty() && !first.empty() && *first.begin() != "..") {
        const auto file = os::open_beneath(root_.get(), first, O_PATH | O_NOFOLLOW);
        const auto parent = TRY(parent_of(path));
        if (file && ::linkat(AT_FDCWD,
                             fmt::format("/proc/self/fd/{}", file->get()).c_str(),
                             parent.get(),
                             path.filename().c_str(),
                             AT_SYMLINK_FOLLOW) == 0)
            return {};
    }
    if (others_.size() < most_remembered) others_.insert(path.string());
    return {};
}

Result<> Unpacker::make_folder(const Path& path)
{
    auto name = path.string();
    while (name.ends_with('/'))
        name.pop_back();
    const Path folder = name;
    const auto parent = TRY(parent_of(folder));
    if (::mkdirat(parent.get(), folder.filename().c_str(), 0700) != 0 && errno != EEXIST)
        return fail_errno(errno, "create the folder {}", os::in_quotes(folder));
    return {};
}

std::vector<std::string> Unpacker::left_out(const std::vector<std::string>& there) const
{
    std::vector<std::string> out;
    for (const auto& name : others_) {
        if (out.size() == most_told) {
            out.push_back("more outputs are not files, folders or links and were left out");
            break;
        }
        out.push_back(os::in_quotes(name) +
                      " is not a file, folder or link (but a pipe or a device) and was left out");
    }
    // Not all of them are known by name: nobody can tell what the others are.
    if (others_.size() == most_remembered) return out;
    std::string first;
    std::size_t sockets = 0;
    for (const auto& name : there) {
        if (others_.contains(name)) continue;
        const auto unpacked = os::open_beneath(root_.get(), name, O_PATH | O_NOFOLLOW);
        if (unpacked || unpacked.error().kind() != ErrorKind::not_found) continue;
        if (sockets++ == 0) first = name;
    }
    if (sockets > 0) out.push_back(sockets_left_out(first, sockets));
    return out;
}

}  // namespace ponk::executor::docker

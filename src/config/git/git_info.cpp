// SPDX-License-Identifier: Apache-2.0
#include "config/git/git_info.hpp"

#include "base/text.hpp"
#include "config/git/git_settings.hpp"

#include <sys/stat.h>

namespace ponk::config {

namespace {

constexpr std::uint64_t small_file = std::uint64_t{1} << 20;
constexpr std::uint64_t packed_refs_limit = std::uint64_t{256} << 20;

Result<std::string> line_of(const os::Path& path)
{
    const auto text = TRY(os::read_file_if_any(path, small_file));
    return text ? std::string(trim(*text)) : std::string();
}

// ".git" may be a file that names the folder: linked work trees and submodules.
Result<std::optional<os::Path>> git_dir_at(const os::Path& folder)
{
    const auto path = folder / ".git";
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::optional<os::Path>();
    if (S_ISDIR(info.st_mode)) return std::optional<os::Path>(path);
    const auto line = TRY(line_of(path));
    constexpr std::string_view prefix = "gitdir:";
    if (!line.starts_with(prefix)) return std::optional<os::Path>();
    const os::Path named(std::string(trim(std::string_view(line).substr(prefix.size()))));
    return std::optional<os::Path>(named.is_absolute() ? named : folder / named);
}

Result<std::string> resolve_ref(const GitPlace& place, const std::string& name)
{
    for (const auto& folder : {place.git_dir, place.common_dir}) {
        const auto line = TRY(line_of(folder / name));
        if (!line.empty()) return line;
    }
    const auto packed =
        TRY(os::read_file_if_any(place.common_dir / "packed-refs", packed_refs_limit));
    if (!packed) return std::string();
    const auto ending = " " + name + "\n";
    for (auto at = packed->find(ending); at != std::string::npos;
         at = packed->find(ending, at + 1)) {
        const auto before = packed->rfind('\n', at);
        const auto start = before == std::string::npos ? 0 : before + 1;
        const auto id = packed->substr(start, at - start);
        if (id.size() >= 40 && from_hex(id)) return id;
    }
    return std::string();
}

// "https://user:token@host/x" without what is before the '@'.
std::string without_credentials(std::string url)
{
    const auto scheme = url.find("://");
    if (scheme == std::string::npos) return url;
    const auto host = scheme + 3;
    const auto end = std::min(url.find('/', host), url.size());
    const auto at = url.rfind('@', end);
    if (at != std::string::npos && at > host && at < end) url.erase(host, at + 1 - host);
    return url;
}

Result<std::string> remote_url(const GitPlace& place)
{
    const auto config = TRY(os::read_file_if_any(place.common_dir / "config", small_file));
    if (!config) return std::string();
    std::string first;
    for (const auto& setting : parse_git_settings(*config).settings) {
        if (setting.section != "remote" || setting.key != "url") continue;
        auto url = without_credentials(setting.value);
        if (setting.subsection == "origin") return url;
        if (first.empty()) first = std::move(url);
    }
    return first;
}

}  // namespace

Result<std::optional<GitPlace>> find_git(const os::Path& directory)
{
    std::error_code error;
    auto folder = std::filesystem::canonical(directory, error);
    if (error) return std::optional<GitPlace>();
    for (;;) {
        if (auto git_dir = TRY(git_dir_at(folder))) {
            GitPlace place{folder, git_dir->lexically_normal(), git_dir->lexically_normal()};
            const auto common = TRY(line_of(*git_dir / "commondir"));
            if (!common.empty()) {
                const os::Path named(common);
                place.common_dir =
                    (named.is_absolute() ? named : *git_dir / named).lexically_normal();
            }
            // As git does: an empty folder, or a file that names one that is gone, is nothing.
            std::error_code problem;
            if (std::filesystem::exists(
                    std::filesystem::symlink_status(place.git_dir / "HEAD", problem)) &&
                std::filesystem::is_directory(place.common_dir / "objects", problem) &&
                std::filesystem::is_directory(place.common_dir / "refs", problem))
                return std::optional<GitPlace>(std::move(place));
        }
        if (folder == folder.parent_path()) return std::optional<GitPlace>();
        folder = folder.parent_path();
    }
}

Result<GitInfo> read_git_head(const GitPlace& place)
{
    GitInfo info;
    auto head = TRY(line_of(place.git_dir / "HEAD"));
    constexpr std::string_view prefix = "ref: ";
    for (int depth = 0; head.starts_with(prefix) && depth < 5; ++depth) {
        const auto name = head.substr(prefix.size());
        constexpr std::string_view heads = "refs/heads/";
        if (name.starts_with(heads)) info.branch = name.substr(heads.size());
        // A name from a file: it must stay in the repository.
        if (name.find("..") != std::string::npos || !name.starts_with("refs/")) break;
        head = TRY(resolve_ref(place, name));
    }
    if (head.size() >= 40 && from_hex(head)) info.commit = head;
    info.remote = TRY(remote_url(place));
    return info;
}

}  // namespace ponk::config

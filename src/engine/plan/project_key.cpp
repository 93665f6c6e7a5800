// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/project_key.hpp"

#include "base/hash.hpp"
#include "config/project/project.hpp"

#include <algorithm>
#include <cctype>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>

namespace ponk::engine {

namespace {

constexpr std::size_t id_digits = 32;
constexpr std::uint64_t longest_log = std::uint64_t{16} << 20;

Result<Path> real_path(const Path& folder)
{
    std::error_code problem;
    auto path = std::filesystem::canonical(folder, problem);
    if (problem) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  "project folder " + os::in_quotes(folder) + ": " + problem.message(),
                  "Go to the project's folder, or set it with '--project PATH'."));
    }
    return path;
}

bool is_plain_id(const std::string& id)
{
    return !id.empty() && id.size() <= 128 && !id.starts_with('.') &&
           std::ranges::all_of(id, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
}

// Inodes are used again, often at once; the time of birth tells two folders apart. A file system
// without it does not tell, and then nothing is claimed.
std::string place_of(const Path& folder)
{
    struct statx info {};
    if (::statx(AT_FDCWD, folder.c_str(), 0, STATX_INO | STATX_BTIME, &info) != 0 ||
        (info.stx_mask & STATX_BTIME) == 0)
        return "";
    return fmt::format("{}:{} {} {}.{:09}",
                       info.stx_dev_major,
                       info.stx_dev_minor,
                       info.stx_ino,
                       info.stx_btime.tv_sec,
                       info.stx_btime.tv_nsec);
}

// The first line of a repository's log says when it was made or cloned, and from what: no other
// repository has it, but for copies.
std::string repository_of(const Path& folder)
{
    const auto log = os::read_file_if_any(folder / ".git" / "logs" / "HEAD", longest_log);
    if (!log || !*log) return "";
    const auto line = (*log)->substr(0, (*log)->find('\n'));
    return line.empty() ? "" : sha256(line).text().substr(0, id_digits);
}

bool is_gone(const Path& path)
{
    std::error_code problem;
    return std::filesystem::status(path, problem).type() == std::filesystem::file_type::not_found;
}

std::string id_of_path(const std::string& text)
{
    return sha256(text).text().substr(0, id_digits);
}

}  // namespace

Result<ProjectKey> identify_project(const Path& folder)
{
    const auto path = TRY(real_path(folder));
    const auto project = TRY(config::open_project(path));
    ProjectKey key;
    key.path = path;
    key.name = path.filename().native();
    key.place = place_of(path);
    key.repository = repository_of(path);
    // It names folders, and its file may be anybody's: what is not a plain name does not count.
    if (project.identity && is_plain_id(*project.identity->id)) {
        key.id = *project.identity->id;
        if (!project.identity->name.empty()) key.name = project.identity->name;
    } else {
        key.id = id_of_path(path.native());
    }
    return key;
}

Result<ProjectKey> identify_project(const store::History& history, const Path& folder)
{
    auto key = TRY(identify_project(folder));
    const bool by_path = key.id == id_of_path(key.path.native());
    if (!by_path) return key;
    if (const auto known = TRY(history.find_project_at(key.path.native()))) {
        key.id = known->project.id;
        return key;
    }
    for (const auto& project : TRY(history.projects_like(key.place, key.repository))) {
        if (!is_gone(project.path)) continue;
        key.id = project.id;
        key.moved_from = project.path;
        return key;
    }
    // A project that moved away has kept the id that this path would give.
    for (int i = 2; TRY(history.find_project(key.id)); ++i)
        key.id = id_of_path(fmt::format("{}\n{}", key.path.native(), i));
    return key;
}

}  // namespace ponk::engine

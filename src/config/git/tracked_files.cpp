// SPDX-License-Identifier: Apache-2.0
#include "config/git/tracked_files.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/git/git_index.hpp"
#include "os/git_command.hpp"
#include "os/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>

namespace ponk::config {

namespace {

constexpr std::uint64_t index_limit = std::uint64_t{1} << 30;
constexpr std::uint64_t checksum_size = 20;  // of the last bytes, also where it is longer
constexpr auto longest_question = std::chrono::seconds(20);

// For an index that only git understands: split, or sparse.
Result<std::vector<std::string>> ask_git(const GitPlace& place)
{
    const auto output =
        TRY(os::run(os::git_question(place.work_tree, {"ls-files", "-z", "--cached"}),
                    after(longest_question),
                    {}));
    if (output.exit.status() != 0) {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  "git cannot list the tracked files: " + printable(trim(output.err)),
                  "'git ls-files' in " + os::in_quotes(place.work_tree) + " must work."));
    }
    auto paths = split(output.out, '\0');
    std::erase(paths, "");
    return paths;
}

}  // namespace

Result<TrackedFiles> TrackedFiles::load(const GitPlace& place)
{
    const auto bytes = TRY(os::read_file_if_any(place.git_dir / "index", index_limit));
    if (!bytes) return TrackedFiles({});
    std::vector<std::string> paths;
    auto index = parse_git_index(*bytes, 20);
    if (!index) index = parse_git_index(*bytes, 32);
    if (index) {
        paths.reserve(index->entries.size());
        for (auto& entry : index->entries)
            paths.push_back(std::move(entry.path));
    } else {
        paths = TRY(ask_git(place));
    }
    if (!std::is_sorted(paths.begin(), paths.end())) std::sort(paths.begin(), paths.end());
    return TrackedFiles(std::move(paths));
}

std::string TrackedFiles::fingerprint(const GitPlace& place)
{
    const auto file = os::open_file(place.git_dir / "index", O_RDONLY);
    os::FileStatus status;
    if (!file || os::status_of(file->get(), status) != 0 || status.size < checksum_size) return "-";
    const auto end = os::read_at(file->get(), status.size - checksum_size, checksum_size);
    auto text = std::to_string(status.size) + "." + (end ? to_hex(*end) : "");
    // Where git leaves the checksum out (index.skipHash).
    if (!end || *end == std::string(checksum_size, '\0'))
        text += fmt::format(".{}.{}.{}", status.mtime_ns, status.ctime_ns, status.inode);
    return text;
}

bool TrackedFiles::contains(std::string_view path) const
{
    return std::binary_search(paths_.begin(), paths_.end(), path, std::less<>());
}

bool TrackedFiles::has_any_in(std::string_view folder) const
{
    if (contains(folder)) return true;
    const auto inside = std::string(folder) + "/";
    const auto found = std::lower_bound(paths_.begin(), paths_.end(), inside);
    return found != paths_.end() && found->starts_with(inside);
}

}  // namespace ponk::config

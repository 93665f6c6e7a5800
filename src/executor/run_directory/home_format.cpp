// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/home_format.hpp"

#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/directory.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

constexpr const char* format_file = "format";
constexpr std::string_view magic = "ponk-home ";

struct Renamed {
    const char* before;
    const char* now;
};

// What has another name since version 2.
constexpr std::array home_names{Renamed{"doors.json", "listeners.json"},
                                Renamed{"boxes", "hosts"},
                                Renamed{"cache/boxes", "cache/hosts"}};
constexpr std::array run_names{Renamed{"box", "host"}};
constexpr std::array task_names{Renamed{"side", "monitor"}, Renamed{"side.lock", "monitor.lock"}};

// What was in a run's folder and is the run's own; all the rest is its task's.
bool is_of_run(std::string_view name)
{
    constexpr std::array own{
        "attempts", "work", "record.json", "end.json", "lock.json", "wanted-lock.json", "host"};
    // Trees that were being copied when somebody was killed.
    constexpr std::array unfinished{"work.new", "outputs.", "returned-", "tree-"};
    const auto begins = [name](std::string_view start) { return name.starts_with(start); };
    return std::ranges::find(own, name) != own.end() || std::ranges::any_of(unfinished, begins);
}

Result<> rename_entry(const Path& from, const Path& to)
{
    if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
    return fail_errno(errno, "rename {} to {}", os::in_quotes(from), os::in_quotes(to));
}

template <std::size_t Count>
Result<> rename_all(const Path& folder, const std::array<Renamed, Count>& names)
{
    for (const auto& [before, now] : names)
        TRY(rename_entry(folder / before, folder / now));
    return {};
}

Result<std::vector<RunId>> runs_of(const Path& home)
{
    std::vector<RunId> out;
    const auto entries = os::list_directory(home / "runs");
    if (!entries && entries.error().kind() == ErrorKind::not_found) return out;
    for (const auto& entry : TRY(entries)) {
        const auto id = RunId::parse(entry.name);
        if (id && entry.type == DT_DIR) out.push_back(*id);
    }
    return out;
}

// A script could write into its run's folder: what it left at a name that is ours now gives way.
Result<> set_aside(const Path& place)
{
    const auto name =
        fmt::format(".not-ours.{}.{}", place.filename().native(), to_hex(random_bytes(4)));
    return rename_entry(place, place.parent_path() / name);
}

// No part of the way is a link afterwards.
Result<Path> make_task_folder(const Path& root)
{
    auto folder = root;
    for (const auto& part : RunDirectory::task_part()) {
        folder /= part;
        struct stat info {};
        const bool there = ::lstat(folder.c_str(), &info) == 0;
        if (there && !S_ISDIR(info.st_mode)) TRY(set_aside(folder));
        if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
            return fail_errno(errno, "create {}", os::in_quotes(folder));
        open_up(folder);
    }
    return folder;
}

Result<> move_files(const Path& root)
{
    open_up(root);
    TRY(rename_all(root, run_names));
    const auto task = TRY(make_task_folder(root));
    for (const auto& entry : TRY(os::list_directory(root))) {
        if (is_of_run(entry.name) || entry.name.starts_with(".not-ours.")) continue;
        if (is_there(task / entry.name)) TRY(set_aside(task / entry.name));
        TRY(rename_entry(root / entry.name, task / entry.name));
    }
    return rename_all(task, task_names);
}

// Nothing of the new names may be lost by a power cut that the mark survives.
Result<> flush(const Path& home)
{
    const auto folder = TRY(os::open_file(home, O_RDONLY | O_DIRECTORY));
    if (::syncfs(folder.get()) == 0) return {};
    return fail_errno(errno, "flush {}", os::in_quotes(home));
}

bool has_content(const Path& home)
{
    return is_there(home / "runs") || is_there(home / "history") || is_there(home / "run.key");
}

Error newer(const Path& home, int version)
{
    return {ErrorKind::conflict,
            fmt::format("{} was written by a newer ponk (format {}, this one knows {})",
                        os::in_quotes(home),
                        version,
                        HomeFormat::newest),
            "Use that version, or another folder."};
}

Error alive(const std::vector<std::string>& runs)
{
    constexpr std::size_t most = 5;
    auto names = runs;
    names.resize(std::min(runs.size(), most));
    if (runs.size() > most) names.push_back(fmt::format("{} others", runs.size() - most));
    return {ErrorKind::conflict,
            fmt::format("{} of an earlier version of ponk {} still running: {}",
                        runs.size() == 1 ? "a run" : "runs",
                        runs.size() == 1 ? "is" : "are",
                        join(names, ", ")),
            "Wait for the end, or cancel with that version; then repeat the command."};
}

}  // namespace

Result<HomeFormat> HomeFormat::look(const Path& home)
{
    const auto text = TRY(os::read_file_if_any(home / format_file, 4096));
    if (!text) {
        // Locks were in the run's folder itself.
        std::vector<std::string> living;
        for (const auto& run : TRY(runs_of(home))) {
            const auto root = home / "runs" / run.text();
            if (is_locked(root) || is_locked(root, "side.lock")) living.push_back(run.text());
        }
        if (!living.empty()) return tl::unexpected(alive(living));
        return HomeFormat(home, has_content(home) ? 1 : 0);
    }
    const auto line = trim(*text);
    const auto version =
        line.starts_with(magic) ? parse_integer(line.substr(magic.size())) : std::nullopt;
    if (!version || *version < 2)
        return fail(ErrorKind::damaged,
                    "{} is damaged: it must be '{}{}'",
                    os::in_quotes(home / format_file),
                    magic,
                    newest);
    if (*version > newest) return tl::unexpected(newer(home, static_cast<int>(*version)));
    return HomeFormat(home, static_cast<int>(*version));
}

Result<std::size_t> HomeFormat::upgrade() const
{
    std::size_t converted = 0;
    if (version_ == newest) return converted;
    if (version_ == 1) {
        TRY(rename_all(home_, home_names));
        for (const auto& run : TRY(runs_of(home_))) {
            TRY(move_files(home_ / "runs" / run.text())
                    .map_error(while_doing("convert run '{}'", run.text())));
            ++converted;
        }
        TRY(flush(home_));
    }
    TRY(os::replace_file(home_ / format_file, fmt::format("{}{}\n", magic, newest)));
    return converted;
}

}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/home_format.hpp"

#include "base/hash.hpp"
#include "base/id.hpp"
#include "base/text.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "os/directory.hpp"
#include "os/file_lock.hpp"

#include <algorithm>
#include <array>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

constexpr const char* format_file = "format";
// Beside the runs, which may be on a disk of their own: these are of the newest version.
constexpr const char* runs_mark = ".format";
constexpr std::string_view magic = "ponk-home ";
constexpr std::string_view aside = ".not-ours.";

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
    // Trees that were being copied when somebody was killed, and what gave way.
    constexpr std::array begins{"work.new", "outputs.", "returned-", "tree-", aside.data()};
    return std::ranges::find(own, name) != own.end() ||
           std::ranges::any_of(begins,
                               [name](std::string_view start) { return name.starts_with(start); });
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

bool is_there(int at, const char* name)
{
    struct stat info {};
    return ::fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

Result<> rename_entry(int from, const char* before, int to, const char* now)
{
    if (::renameat(from, before, to, now) == 0 || errno == ENOENT) return {};
    return fail_errno(errno, "rename {} to {}", os::in_quotes(before), os::in_quotes(now));
}

// A script could write into its run's folder: what it left at a name that is ours now gives way.
Result<> set_aside(int at, const char* name)
{
    const auto other = std::string(aside) + to_hex(random_bytes(8));
    return rename_entry(at, name, at, other.c_str());
}

template <std::size_t Count>
Result<> rename_all(int at, const std::array<Renamed, Count>& names)
{
    for (const auto& [before, now] : names) {
        if (!is_there(at, before)) continue;
        if (is_there(at, now)) TRY(set_aside(at, now));
        TRY(rename_entry(at, before, at, now));
    }
    return {};
}

// No part of the way is a link.
Result<RunFolder> make_task_folder(const Path& root)
{
    Path way;
    for (const auto& part : RunDirectory::task_part()) {
        const auto parent = TRY(RunFolder::open(root, way));
        way /= part;
        ::mkdirat(parent.fd(), part.c_str(), 0700);
        const auto made = RunFolder::open(root, way);
        if (made || made.error().kind() != ErrorKind::conflict) continue;
        TRY(set_aside(parent.fd(), part.c_str()));
        ::mkdirat(parent.fd(), part.c_str(), 0700);
    }
    return RunFolder::open(root, way);
}

// By descriptors: a link that appears meanwhile leads nowhere.
Result<> move_files(const Path& root)
{
    const auto run = TRY(RunFolder::open(root, {}));
    TRY(rename_all(run.fd(), run_names));
    const auto task = TRY(make_task_folder(root));
    for (const auto& entry : TRY(os::list_directory(run.fd()))) {
        if (is_of_run(entry.name)) continue;
        const auto* name = entry.name.c_str();
        // A folder that we may not write to cannot move, either.
        if (entry.type == DT_DIR) static_cast<void>(RunFolder::open(root, name));
        if (is_there(task.fd(), name)) TRY(set_aside(task.fd(), name));
        TRY(rename_entry(run.fd(), name, task.fd(), name));
    }
    return rename_all(task.fd(), task_names);
}

// Nothing of the new names may be lost by a power cut that the mark survives.
Result<> flush(const Path& folder)
{
    const auto opened = TRY(os::open_file(folder, O_RDONLY | O_DIRECTORY));
    if (::syncfs(opened.get()) == 0) return {};
    return fail_errno(errno, "flush {}", os::in_quotes(folder));
}

// Held, or taken away by its script: whoever is not sure waits.
bool may_be_held(const Path& lock)
{
    struct stat info {};
    if (::lstat(lock.c_str(), &info) != 0) return false;
    if (!S_ISREG(info.st_mode) || ::access(lock.c_str(), R_OK | W_OK) != 0) return true;
    return is_locked(lock.parent_path(), lock.filename().c_str());
}

// A run of the first version that has not ended, as its folder tells.
Result<bool> is_alive(const Path& home, const RunKeys& keys, const RunId& run)
{
    const auto root = home / "runs" / run.text();
    open_up(root);
    const SealedFiles files(root, keys.of(run.text()));
    if (executor::is_there(root / "end.json") || TRY(files.find(control::exit))) return false;
    // On another machine: it was accepted there, and nobody has told us its end.
    if (executor::is_there(root / "box")) return executor::is_there(root / "launched");
    // On a host: the earlier program there is busy with it.
    const auto busy = home / "locks" / run.text();
    if (executor::is_there(busy) &&
        !TRY(os::FileLock::try_take(busy, os::FileLock::Kind::exclusive)))
        return true;
    if (may_be_held(root / control::lock) || may_be_held(root / "side.lock")) return true;
    const auto text = TRY(files.find(control::pid));
    const auto processes = text ? parse_processes(*text) : fail(ErrorKind::not_found, "none");
    if (!processes) return false;
    return os::open_process(processes->stub) || os::open_process(processes->guard) ||
           os::open_process(processes->main);
}

Error newer(const Path& home, std::int64_t version)
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

Result<> require_ended(const Path& home)
{
    const auto runs = TRY(runs_of(home));
    if (runs.empty()) return {};
    const auto keys = TRY(RunKeys::load(home / "run.key"));
    std::vector<std::string> living;
    for (const auto& run : runs)
        if (TRY(is_alive(home, keys, run))) living.push_back(run.text());
    if (living.empty()) return {};
    return tl::unexpected(alive(living));
}

}  // namespace

Result<HomeFormat> HomeFormat::look(const Path& home)
{
    const auto text = TRY(os::read_file_if_any(home / format_file, 4096));
    if (text) {
        const auto line = trim(*text);
        const auto told =
            line.starts_with(magic) ? parse_integer(line.substr(magic.size())) : std::nullopt;
        if (!told || *told < newest)
            return fail(ErrorKind::damaged,
                        "{} is damaged: it must be '{}{}'",
                        os::in_quotes(home / format_file),
                        magic,
                        newest);
        if (*told > newest) return tl::unexpected(newer(home, *told));
    }
    const bool marked = executor::is_there(home / "runs" / runs_mark);
    if (!marked) TRY(require_ended(home));
    return HomeFormat(home, text.has_value(), marked);
}

Result<HomeFormat::Upgrade> HomeFormat::upgrade() const
{
    Upgrade out;
    if (!home_is_marked_) {
        const auto folder = TRY(os::open_file(home_, O_RDONLY | O_DIRECTORY));
        TRY(rename_all(folder.get(), home_names));
    }
    if (!runs_are_marked_) {
        for (const auto& run : TRY(runs_of(home_))) {
            const auto moved = move_files(home_ / "runs" / run.text());
            if (moved) {
                ++out.converted;
                continue;
            }
            // One run that its script left awkward does not keep the others.
            const auto space = os::free_space(home_ / "runs");
            if (!space || *space < least_space)
                return tl::unexpected(moved.error().within("convert run '" + run.text() + "'"));
            out.problems.push_back(
                fmt::format("run '{}' was not converted: {}", run.text(), moved.error().message()));
        }
        TRY(os::make_directories(home_ / "runs"));
        if (out.converted > 0) TRY(flush(home_ / "runs"));
        TRY(os::replace_file(home_ / "runs" / runs_mark, mark_text()));
    }
    if (!home_is_marked_) {
        if (out.converted > 0) TRY(flush(home_));
        TRY(os::replace_file(home_ / format_file, mark_text()));
    }
    return out;
}

std::string HomeFormat::mark_text()
{
    return fmt::format("{}{}\n", magic, newest);
}

}  // namespace ponk::executor

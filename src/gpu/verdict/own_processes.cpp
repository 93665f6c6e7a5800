// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/own_processes.hpp"

#include "base/time.hpp"

#include <algorithm>
#include <cctype>
#include <unistd.h>

namespace ponk::gpu {

namespace {

constexpr unsigned looks_to_remember = 60;
// A process may be moved into a group after it was looked at. One that shows on a GPU is looked at
// again each time anyway.
constexpr unsigned looks_between_marks = 60;
// Deeper than any tree of processes; ends the walk should parents form a ring while they change.
constexpr int most_ancestors = 1000;

bool is_below(std::string_view path, std::string_view group)
{
    return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '/');
}

// Control groups may be given as they are mounted ("/sys/fs/cgroup/user.slice/ponk-ID").
std::string without_mount(const std::string& group)
{
    for (const std::string_view mount : {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
        if (is_below(group, mount)) return group.substr(mount.size());
    }
    return group;
}

// In `group`, and not in that of a run which was submitted from within this one.
bool is_of_group(std::string_view path, std::string_view group)
{
    return is_below(path, group) && path.find("/ponk-", group.size()) == std::string_view::npos;
}

// A script may use ponk: a daemon or another run's supervisor that was started there is no part of
// this run, nor is what is below it.
bool is_supervisor(const ProcessStat& process)
{
    return process.name == "ponk-daemon" || process.name.starts_with("ponk-stub");
}

// One server of NVIDIA's MPS works for all its clients, which drivers do not always distinguish.
bool is_mps(const ProcessStat& process)
{
    return process.name.starts_with("nvidia-cuda-mps");
}

std::int64_t boot_ms_of(std::uint64_t ticks)
{
    static const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return static_cast<std::int64_t>(ticks * 1000 / per_second);
}

// Engines write the id into the path in ways of their own: "/docker/ID", "docker-ID.scope",
// "libpod-ID".
bool names_container(std::string_view path, std::string_view id)
{
    const auto hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    for (auto at = path.find(id); at != std::string_view::npos; at = path.find(id, at + 1)) {
        const auto end = at + id.size();
        if ((at == 0 || !hex(path[at - 1])) && (end == path.size() || !hex(path[end]))) return true;
    }
    return false;
}

// The path holds an id as engines make them, and it is not `id`.
bool names_another_container(std::string_view path, std::string_view id)
{
    constexpr std::size_t length = 64;
    std::size_t digits = 0;
    for (std::size_t i = 0; i <= path.size(); ++i) {
        if (i < path.size() && std::isxdigit(static_cast<unsigned char>(path[i])) != 0) {
            ++digits;
            continue;
        }
        if (digits == length && !path.substr(i - length, length).starts_with(id)) return true;
        digits = 0;
    }
    return false;
}

}  // namespace

OwnProcesses::OwnProcesses(RunProcesses run, Path proc)
    : run_(std::move(run)), proc_(std::move(proc))
{
}

void OwnProcesses::set_run(RunProcesses run)
{
    if (run == run_) return;
    run_ = std::move(run);
    others_.clear();
    without_token_.clear();
}

bool OwnProcesses::is_root(const ProcessStat& process) const
{
    return std::any_of(run_.roots.begin(), run_.roots.end(), [&](const auto& root) {
        return root.pid == process.pid &&
               (root.start_ticks == 0 || root.start_ticks == process.start_ticks);
    });
}

bool OwnProcesses::is_marked(pid_t pid) const
{
    const auto paths = cgroups_of(proc_, pid);
    // The kernel gives the number of a namespace that is gone to the next one: a container that
    // starts while this one ends.
    if (run_.pid_namespace != 0 && find_pid_namespace(proc_, pid) == run_.pid_namespace &&
        std::ranges::none_of(paths, [this](const auto& path) {
            return names_another_container(path, run_.container);
        }))
        return true;
    const auto group = without_mount(run_.cgroup);
    const bool has_group = group.size() > 1;  // "/" is everybody's
    // A short id would be found in others.
    const bool has_container = run_.container.size() >= 12;
    if (!has_group && !has_container) return false;
    for (const auto& path : paths) {
        if (has_group && is_of_group(path, group)) return true;
        if (has_container && names_container(path, run_.container)) return true;
    }
    return false;
}

bool OwnProcesses::was_seen(const ProcessStat& process) const
{
    const auto found = seen_.find(process.pid);
    return found != seen_.end() && found->second.start_ticks == process.start_ticks;
}

bool OwnProcesses::has_token(const ProcessStat& process)
{
    if (run_.token.empty()) return false;
    if (const auto found = without_token_.find(process.pid);
        found != without_token_.end() && found->second == process.start_ticks)
        return false;
    const auto environment = find_environment(proc_, process.pid);
    if (environment &&
        std::ranges::find(*environment, "PONK_RUN_TOKEN=" + run_.token) != environment->end())
        return true;
    without_token_[process.pid] = process.start_ticks;
    return false;
}

OwnProcesses::Belongs OwnProcesses::belongs(const ProcessStat& process) const
{
    if (is_root(process) || was_seen(process)) return Belongs::yes;
    if (const auto found = others_.find(process.pid);
        (found == others_.end() || found->second.start_ticks != process.start_ticks) &&
        is_marked(process.pid))
        return Belongs::yes;
    return is_supervisor(process) ? Belongs::no : Belongs::as_parent;
}

// Also those whose pid another one has now.
void OwnProcesses::forget_the_gone(const std::vector<ProcessEntry>& all)
{
    std::unordered_map<pid_t, std::uint64_t> inodes;
    for (const auto& entry : all)
        inodes.emplace(entry.pid, entry.inode);
    std::erase_if(others_, [&](const auto& other) {
        const auto found = inodes.find(other.first);
        return found == inodes.end() || found->second != other.second.inode;
    });
    std::erase_if(without_token_, [&](const auto& one) { return !inodes.contains(one.first); });
    for (auto at = seen_.begin(); at != seen_.end();) {
        auto& [pid, seen] = *at;
        bool over = false;
        if (const auto found = inodes.find(pid); found == inodes.end()) {
            over = ++seen.looks_since_end > looks_to_remember;
            seen.end_ms = std::min(seen.end_ms, boot_milliseconds());
        } else if (found->second != seen.inode) {
            const auto now = find_stat(proc_, pid);
            over = now && now->start_ticks != seen.start_ticks;
            seen.inode = found->second;
        }
        at = over ? seen_.erase(at) : std::next(at);
    }
}

// Up to the first one of which it is known.
bool OwnProcesses::is_own(ProcessStat process)
{
    for (int i = 0; i < most_ancestors; ++i) {
        const auto belongs_here = belongs(process);
        if (belongs_here != Belongs::as_parent) return belongs_here == Belongs::yes;
        if (process.parent <= 0 || others_.contains(process.parent)) return false;
        auto parent = find_stat(proc_, process.parent);
        if (!parent) return false;
        process = std::move(*parent);
    }
    return false;
}

void OwnProcesses::refresh()
{
    const auto all = list_processes(proc_);
    if (looks_++ % looks_between_marks == 0) others_.clear();
    forget_the_gone(all);
    for (const auto& entry : all) {
        if (seen_.contains(entry.pid) || others_.contains(entry.pid)) continue;
        const auto process = find_stat(proc_, entry.pid);
        if (!process) continue;
        if (is_own(*process))
            note_seen(*process, entry.inode);
        else
            others_[entry.pid] = {process->start_ticks, entry.inode};
    }
}

void OwnProcesses::note_seen(const ProcessStat& process, std::uint64_t inode)
{
    seen_[process.pid] = {
        .start_ticks = process.start_ticks, .inode = inode, .serves = is_mps(process)};
}

ProcessOwner OwnProcesses::owner_of(const Seen& seen)
{
    return {
        seen.serves ? Whose::own_server : Whose::own, boot_ms_of(seen.start_ticks), seen.end_ms};
}

bool OwnProcesses::contains(pid_t pid)
{
    const auto found = whose(pid).whose;
    return found == Whose::own || found == Whose::own_server;
}

ProcessOwner OwnProcesses::whose(pid_t pid)
{
    const auto process = find_stat(proc_, pid);
    if (!process) {
        const auto found = seen_.find(pid);
        if (found == seen_.end()) return Whose::unseen;
        found->second.end_ms = std::min(found->second.end_ms, boot_milliseconds());
        return owner_of(found->second);
    }
    others_.erase(pid);
    const auto own = [&] {
        note_seen(*process, 0);
        return owner_of(seen_[pid]);
    };
    auto at = process;
    for (int i = 0; at && i < most_ancestors; ++i) {
        const auto belongs_here = belongs(*at);
        if (belongs_here == Belongs::yes) return own();
        if (belongs_here == Belongs::no) return Whose::others;
        if (at->parent <= 0) break;
        at = find_stat(proc_, at->parent);
    }
    return has_token(*process) ? own() : ProcessOwner(Whose::others);
}

std::vector<pid_t> OwnProcesses::living() const
{
    std::vector<pid_t> out;
    for (const auto& [pid, seen] : seen_)
        if (seen.looks_since_end == 0) out.push_back(pid);
    return out;
}

}  // namespace ponk::gpu

// SPDX-License-Identifier: Apache-2.0
#include "gpu/own_processes.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace ponk::gpu {

namespace {

constexpr unsigned looks_to_remember = 60;
// A process may be moved into a group after it was looked at.
constexpr unsigned looks_between_marks = 12;
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

}  // namespace

OwnProcesses::OwnProcesses(RunProcesses run, Path proc)
    : run_(std::move(run)), proc_(std::move(proc))
{
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
    if (run_.pid_namespace != 0 && find_pid_namespace(proc_, pid) == run_.pid_namespace)
        return true;
    const auto group = without_mount(run_.cgroup);
    const bool has_group = group.size() > 1;  // "/" is everybody's
    // A short id would be found in others.
    const bool has_container = run_.container.size() >= 12;
    if (!has_group && !has_container) return false;
    for (const auto& path : cgroups_of(proc_, pid)) {
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

OwnProcesses::Belongs OwnProcesses::belongs(const ProcessStat& process) const
{
    if (is_root(process) || was_seen(process)) return Belongs::yes;
    if (const auto found = unmarked_.find(process.pid);
        (found == unmarked_.end() || found->second != process.start_ticks) &&
        is_marked(process.pid))
        return Belongs::yes;
    return is_supervisor(process) ? Belongs::no : Belongs::as_parent;
}

void OwnProcesses::refresh()
{
    std::unordered_map<pid_t, ProcessStat> all;
    for (auto& process : list_processes(proc_))
        all.emplace(process.pid, std::move(process));
    if (looks_++ % looks_between_marks == 0) unmarked_.clear();
    std::unordered_map<pid_t, bool> known;
    for (const auto& [pid, process] : all) {
        // Up to the first one of which it is known; all on the way are what that one is.
        std::vector<pid_t> way;
        bool own = false;
        for (auto at = all.find(pid); at != all.end() && way.size() < most_ancestors;
             at = all.find(at->second.parent)) {
            if (const auto found = known.find(at->first); found != known.end()) {
                own = found->second;
                break;
            }
            way.push_back(at->first);
            const auto belongs_here = belongs(at->second);
            own = belongs_here == Belongs::yes;
            if (belongs_here != Belongs::as_parent) break;
        }
        for (const pid_t below : way)
            known[below] = own;
    }
    for (auto at = seen_.begin(); at != seen_.end();) {
        const auto found = all.find(at->first);
        const bool over = found == all.end() ? ++at->second.looks_since_end > looks_to_remember
                                             : found->second.start_ticks != at->second.start_ticks;
        at = over ? seen_.erase(at) : std::next(at);
    }
    for (const auto& [pid, own] : known) {
        const auto start_ticks = all.at(pid).start_ticks;
        if (own)
            seen_[pid] = {.start_ticks = start_ticks, .looks_since_end = 0};
        else
            unmarked_[pid] = start_ticks;
    }
}

Whose OwnProcesses::whose(pid_t pid)
{
    auto process = find_stat(proc_, pid);
    if (!process) return seen_.contains(pid) ? Whose::own : Whose::unseen;
    unmarked_.erase(pid);
    const auto start_ticks = process->start_ticks;
    for (int i = 0; process && i < most_ancestors; ++i) {
        const auto belongs_here = belongs(*process);
        if (belongs_here == Belongs::yes)
            seen_[pid] = {.start_ticks = start_ticks, .looks_since_end = 0};
        if (belongs_here != Belongs::as_parent)
            return belongs_here == Belongs::yes ? Whose::own : Whose::others;
        if (process->parent <= 0) return Whose::others;
        process = find_stat(proc_, process->parent);
    }
    return Whose::others;
}

std::vector<pid_t> OwnProcesses::living() const
{
    std::vector<pid_t> out;
    for (const auto& [pid, seen] : seen_)
        if (seen.looks_since_end == 0) out.push_back(pid);
    return out;
}

}  // namespace ponk::gpu

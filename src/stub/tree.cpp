// SPDX-License-Identifier: Apache-2.0
#include "stub/tree.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <initializer_list>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::stub {

namespace {

struct Process {
    pid_t pid;
    pid_t parent;
    bool dead;
    bool ours;
    bool stranger;
    std::int64_t cpu_ticks;
    std::int64_t pages;
};
constexpr int most_processes = 131072;
Process processes[most_processes];  // untouched pages cost nothing
int process_count = 0;
bool met_strangers = false;
const char* run_token = nullptr;

// A daemon, or the supervisor of another run, by its name; and not one of our processes that took
// that name, as far as its environment can be read.
bool is_stranger(pid_t pid, const char* name)
{
    if (std::strcmp(name, "ponk-daemon") != 0 && std::strncmp(name, "ponk-stub", 9) != 0)
        return false;
    static char environment[131072];
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d/environ", pid);
    const long size = read_small(path, environment, sizeof environment);
    for (long at = 0; run_token && at < size;) {
        const char* word = environment + at;
        if (std::strncmp(word, "PONK_RUN_TOKEN=", 15) == 0 &&
            std::strcmp(word + 15, run_token) == 0)
            return false;
        at += static_cast<long>(std::strlen(word)) + 1;
    }
    return true;
}

struct KernelEntry {  // what getdents64 returns
    std::uint64_t inode;
    std::int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[1];
};

int list_processes()
{
    alignas(8) static char buffer[65536];
    const int folder = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return 0;
    int count = 0;
    long got = 0;
    while ((got = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < got && count < most_processes;) {
            const auto* entry = reinterpret_cast<const KernelEntry*>(buffer + at);
            at += entry->size;
            const int pid = std::atoi(entry->name);
            ProcessLine line{};
            if (pid <= 0 || !read_process(pid, line)) continue;
            const bool dead = line.state == 'Z' || line.state == 'X';
            processes[count++] = {pid,
                                  line.parent,
                                  dead,
                                  false,
                                  !dead && is_stranger(pid, line.name),
                                  line.cpu_ticks,
                                  line.pages};
        }
    }
    ::close(folder);
    return count;
}

// Marks all below `root`, level by level.
void mark_below(pid_t root, int count)
{
    static pid_t queue[most_processes + 1];
    queue[0] = root;
    for (int next = 0, last = 1; next < last; ++next) {
        for (int i = 0; i < count; ++i) {
            if (processes[i].ours || processes[i].parent != queue[next]) continue;
            if (processes[i].stranger) {
                met_strangers = true;
                continue;
            }
            processes[i].ours = true;
            queue[last++] = processes[i].pid;
        }
    }
}

// The folder of our group in the unified hierarchy, or false.
bool own_group(char* out, std::size_t room)
{
    char text[4096];
    if (read_small("/proc/self/cgroup", text, sizeof text) <= 0) return false;
    const char* line = std::strncmp(text, "0::", 3) == 0 ? text : std::strstr(text, "\n0::");
    if (!line) return false;
    line = std::strchr(line, '/');
    if (!line) return false;
    const int length = static_cast<int>(std::strcspn(line, "\n"));
    for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        std::snprintf(out, room, "%s%.*s/cgroup.controllers", mount, length, line);
        // In a hybrid set-up the first place is a folder of mounts and has no such file. Somebody's
        // "echo $$ > cgroup.procs" may have made one of that name there.
        if (::access(out, F_OK) != 0) continue;
        std::snprintf(out, room, "%s%.*s", mount, length, line);
        return true;
    }
    return false;
}

std::int64_t value_after(const char* path, const char* word)
{
    char text[16384];
    if (read_small(path, text, sizeof text) <= 0) return -1;
    const std::size_t length = std::strlen(word);
    for (const char* at = text; at; at = std::strchr(at, '\n')) {
        at += *at == '\n' ? 1 : 0;
        if (std::strncmp(at, word, length) == 0 && at[length] == ' ')
            return std::strtoll(at + length, nullptr, 10);
    }
    return -1;
}

}  // namespace

void Group::make(const char* run, const char* token)
{
    run_token = token;
    char parent[400];
    if (!own_group(parent, sizeof parent)) return;
    std::snprintf(path_, sizeof path_, "%s/ponk-%s", parent, run);
    if (::mkdir(path_, 0755) == 0 || errno == EEXIST)
        fd_ = ::open(path_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd_ < 0) path_[0] = '\0';
}

pid_t Group::fork_into()
{
    if (fd_ >= 0) {
        // struct clone_args up to its member `cgroup`
        std::uint64_t arguments[11] = {0x200000000ULL /* CLONE_INTO_CGROUP */};
        arguments[4] = SIGCHLD;
        arguments[10] = static_cast<std::uint64_t>(fd_);
        const long pid = ::syscall(SYS_clone3, arguments, sizeof arguments);
        if (pid >= 0) return static_cast<pid_t>(pid);
        remove();  // a group without members is of no use
        ::close(fd_);
        fd_ = -1;
        path_[0] = '\0';
    }
    return ::fork();
}

void Group::kill() const
{
    if (met_strangers) return;
    const int file = fd_ < 0 ? -1 : ::openat(fd_, "cgroup.kill", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    [[maybe_unused]] const auto put = ::write(file, "1", 1);
    ::close(file);
}

void Group::remove() const
{
    if (fd_ >= 0) ::rmdir(path_);
}

bool is_alone(pid_t main)
{
    char path[64];
    char text[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/children", ::getpid());
    if (read_small(path, text, sizeof text) < 0) return false;
    char* end = text;
    if (main != 0 && std::strtol(text, &end, 10) != main) end = text;
    return end[std::strspn(end, " ")] == '\0';
}

int signal_tree(pid_t main, int signal)
{
    const int count = process_count = list_processes();
    const pid_t self = ::getpid();
    mark_below(self, count);
    int alive = 0;
    for (int i = 0; i < count; ++i) {
        const auto& process = processes[i];
        if (!process.ours) continue;
        if (process.dead) {
            if (process.parent == self && process.pid != main)
                ::waitpid(process.pid, nullptr, WNOHANG);
            continue;
        }
        ++alive;
        if (signal == 0) continue;
        ::kill(process.pid, signal);
        if (signal == SIGTERM) ::kill(process.pid, SIGCONT);  // a stopped process cannot obey
    }
    return alive;
}

void add_commands(Line<1024>& out)
{
    constexpr int most_commands = 3;
    constexpr std::size_t longest_argument = 100;
    int named = 0;
    for (int i = 0; i < process_count; ++i) {
        if (!processes[i].ours || processes[i].dead) continue;
        if (++named > most_commands) break;
        char path[32];
        char text[512];
        std::snprintf(path, sizeof path, "/proc/%d/cmdline", processes[i].pid);
        const long size = read_small(path, text, sizeof text);
        out.add("%s", named > 1 ? ", " : "");
        // A part of an argument would not be recognised if it is a secret.
        for (long at = 0; at < size;) {
            const std::size_t length = std::strlen(text + at);
            const bool whole = at + static_cast<long>(length) < size;
            if (!whole || length > longest_argument || at > 200) {
                out.add(" …");
                break;
            }
            for (char* c = text + at; *c != '\0'; ++c)
                if (static_cast<unsigned char>(*c) < ' ' || *c == '\\') *c = '?';
            out.add("%s%s", at > 0 ? " " : "", text + at);
            at += static_cast<long>(length) + 1;
        }
        if (size <= 0) out.add("process %d", processes[i].pid);
    }
    if (named > most_commands) out.add(", …");
}

Use measure_use()
{
    process_count = list_processes();
    mark_below(::getpid(), process_count);
    std::int64_t ticks = 0;
    std::int64_t pages = 0;
    for (int i = 0; i < process_count; ++i) {
        if (!processes[i].ours) continue;
        ticks += processes[i].cpu_ticks;
        pages += processes[i].pages;
    }
    // Those that lost their parent and ended here.
    rusage orphans{};
    ::getrusage(RUSAGE_CHILDREN, &orphans);
    const auto ms_of = [](const timeval& time) {
        return std::int64_t{time.tv_sec} * 1000 + time.tv_usec / 1000;
    };
    return {ticks * 1000 / ::sysconf(_SC_CLK_TCK) + ms_of(orphans.ru_utime) +
                ms_of(orphans.ru_stime),
            pages * ::sysconf(_SC_PAGESIZE)};
}

OomCount count_oom_kills(const Group& group)
{
    char path[600];
    char parent[400];
    OomCount count;
    std::snprintf(path, sizeof path, "%s/memory.events", group.path());
    count = {group.path()[0] != '\0' ? value_after(path, "oom_kill") : -1, "own cgroup"};
    if (count.kills >= 0) return count;
    if (own_group(parent, sizeof parent)) {
        std::snprintf(path, sizeof path, "%s/memory.events", parent);
        count = {value_after(path, "oom_kill"), "cgroup"};
        if (count.kills >= 0) return count;
    }
    char text[4096];
    if (read_small("/proc/self/cgroup", text, sizeof text) > 0) {
        if (const char* line = std::strstr(text, ":memory:/")) {
            const int length = static_cast<int>(std::strcspn(line + 8, "\n"));
            std::snprintf(path,
                          sizeof path,
                          "/sys/fs/cgroup/memory%.*s/memory.oom_control",
                          length,
                          line + 8);
            count = {value_after(path, "oom_kill"), "cgroup (version 1)"};
            if (count.kills >= 0) return count;
            // In a container the hierarchy begins at its own group, whatever the path says.
            count = {value_after("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill"),
                     "cgroup of the container"};
            if (count.kills >= 0) return count;
        }
    }
    return {value_after("/proc/vmstat", "oom_kill"), "host"};
}

}  // namespace ponk::stub

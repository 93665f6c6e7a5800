// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

// What /proc says about processes, which may end while they are looked at: what cannot be read,
// for that reason or because permissions are missing, is absent. `proc` is the folder, "/proc" but
// for tests.
namespace ponk::gpu {

using os::Path;

struct ProcessStat {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name;               // up to 15 bytes
    char state = '?';               // 'Z': dead, not yet collected
    std::uint64_t start_ticks = 0;  // since boot
};
std::optional<ProcessStat> find_stat(const Path& proc, pid_t pid);
// All processes that there are. The kernel gives the folder of a process another inode than that of
// the one who had its pid before: pid and inode as they were mean the same process, at a tenth of
// the price of its start time.
struct ProcessEntry {
    pid_t pid = 0;
    std::uint64_t inode = 0;
};
std::vector<ProcessEntry> list_processes(const Path& proc);

// Paths of the control groups, without the hierarchy before them.
std::vector<std::string> cgroups_of(const Path& proc, pid_t pid);
// Inode of the pid namespace.
std::optional<std::uint64_t> find_pid_namespace(const Path& proc, pid_t pid);

// Its pid in the innermost namespace that it is in: what it takes itself for.
std::optional<pid_t> find_inner_pid(const Path& proc, pid_t pid);

// "K=V" words as they were when the program began: what it sets later is not seen.
std::optional<std::vector<std::string>> find_environment(const Path& proc, pid_t pid);
// Files that are mapped, each once, as the process names them.
std::optional<std::vector<std::string>> find_mapped_files(const Path& proc, pid_t pid);
std::vector<std::string> parse_mapped_files(std::string_view maps);

struct Credentials {
    uid_t user = 0;
    std::vector<gid_t> groups;
};
std::optional<Credentials> find_credentials(const Path& proc, pid_t pid);

}  // namespace ponk::gpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stub/files.hpp"

#include <cstdint>
#include <sys/types.h>

// The processes of the run. All are below the supervisor, also those that lost their parent or
// left their session, since it is their reaper. A script may use ponk: a daemon or another run's
// supervisor that was started there is no part of this run, nor is what is below it.
namespace ponk::stub {

// A control group of the run's own, where this kernel and this user may have one.
class Group {
public:
    // Tries to make one below ours. `token` is in the environment of the run's processes.
    void make(const char* run, const char* token);
    // fork(), the child being in the group; where that cannot be there is no group.
    pid_t fork_into();
    // Kills all in it at once, unless there may be strangers among them.
    void kill() const;
    void remove() const;
    [[nodiscard]] const char* path() const { return path_; }

private:
    char path_[512] = "";
    int fd_ = -1;
};

// Sends `signal` to every living process below us, collects the dead ones except `main`, and
// returns how many are alive. `signal` 0 only counts.
int signal_tree(pid_t main, int signal);

// The command lines of those that the last call of `signal_tree` found alive: some of them, each
// argument whole or not at all, on one line.
void add_commands(Line<1024>& out);

// True when it is certain, at the price of one file, that nobody but the dead `main` is below us.
bool is_alone(pid_t main);

// What the run's processes use: processor time since their start, with that of children they waited
// for, and memory that is resident. Pages that several share count for each.
struct Use {
    std::int64_t cpu_ms = 0;
    std::int64_t memory = 0;
};
Use measure_use();

// Kills by memory shortage, as the kernel counts them.
struct OomCount {
    std::int64_t kills = -1;
    const char* source = "none";  // where it was read
};
OomCount count_oom_kills(const Group& group);

}  // namespace ponk::stub

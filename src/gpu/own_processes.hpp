// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/process_facts.hpp"
#include "gpu/verdict.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ponk::gpu {

// How the processes of a run are known on this machine. What is not known stays empty; any one of
// them is enough for a process to belong. All values must be the run's alone: not a control group
// or a namespace that it shares with others.
struct RunProcesses {
    // Stub, guard, script: pids of this machine. All below them belong to the run.
    struct Root {
        pid_t pid = 0;
        std::uint64_t start_ticks = 0;  // 0: not known
    };
    std::vector<Root> roots;
    std::string cgroup;  // as in /proc/PID/cgroup, or below a cgroup mount; made for the run
    std::uint64_t pid_namespace = 0;  // inode
    std::string container;            // id of the engine
};

// Tells which processes of this machine belong to a run. A process once seen to belong does so as
// long as it lives, also when its parents are gone, and for a while after its end: a driver tells
// of work later than it was done. One thread.
class OwnProcesses {
public:
    explicit OwnProcesses(RunProcesses run, Path proc = "/proc");

    // More is known of the run: what was seen before stays.
    void set_run(RunProcesses run) { run_ = std::move(run); }
    // Looks at all processes of the machine, tens of µs for each: every few seconds, so that those
    // are known which never show on a GPU while they live.
    void refresh();
    // Looks at the process itself when it lives, else at what was seen before. Cheap; at each
    // sample.
    [[nodiscard]] bool contains(pid_t pid) { return whose(pid) == Whose::own; }
    [[nodiscard]] Whose whose(pid_t pid);
    // The living ones, in the order of their pids.
    [[nodiscard]] std::vector<pid_t> living() const;

private:
    struct Seen {
        std::uint64_t start_ticks = 0;
        unsigned looks_since_end = 0;
    };
    bool is_root(const ProcessStat& process) const;
    bool is_marked(pid_t pid) const;
    bool was_seen(const ProcessStat& process) const;
    enum class Belongs { yes, no, as_parent };
    Belongs belongs(const ProcessStat& process) const;

    RunProcesses run_;
    Path proc_;
    std::map<pid_t, Seen> seen_;
    // Of others, with their start times, as of the last few looks: spares reading their marks.
    std::map<pid_t, std::uint64_t> unmarked_;
    unsigned looks_ = 0;
};

}  // namespace ponk::gpu

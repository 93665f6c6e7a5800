// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/process_facts.hpp"
#include "gpu/verdict/verdict.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <unordered_map>
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
        friend bool operator==(const Root&, const Root&) = default;
    };
    std::vector<Root> roots;
    std::string cgroup;  // as in /proc/PID/cgroup, or below a cgroup mount; made for the run
    std::uint64_t pid_namespace = 0;  // inode
    std::string container;            // id of the engine
    std::string token;                // PONK_RUN_TOKEN, a secret of the run

    friend bool operator==(const RunProcesses&, const RunProcesses&) = default;
};

// Tells which processes of this machine belong to a run. A process once seen to belong does so as
// long as it lives, also when its parents are gone, and for a while after its end: a driver tells
// of work later than it was done. One thread.
class OwnProcesses {
public:
    explicit OwnProcesses(RunProcesses run, Path proc = "/proc");

    // More is known of the run: what was seen before stays.
    void set_run(RunProcesses run);
    // Looks at the processes of the machine that are new, tens of µs for each, and lists the rest:
    // every few seconds, so that those are known which never show on a GPU while they live.
    void refresh();
    // Looks at the process itself when it lives, else at what was seen before. Cheap; at each
    // sample.
    [[nodiscard]] bool contains(pid_t pid);
    [[nodiscard]] ProcessOwner whose(pid_t pid);
    // The living ones, in the order of their pids.
    [[nodiscard]] std::vector<pid_t> living() const;

private:
    struct Seen {
        std::uint64_t start_ticks = 0;
        std::uint64_t inode = 0;  // of its folder; 0: not known
        bool serves = false;      // others may work in its name
        unsigned looks_since_end = 0;
        std::int64_t end_ms = std::numeric_limits<std::int64_t>::max();  // found to be gone
    };
    struct Other {
        std::uint64_t start_ticks = 0;
        std::uint64_t inode = 0;
    };
    bool is_root(const ProcessStat& process) const;
    bool is_marked(pid_t pid) const;
    bool was_seen(const ProcessStat& process) const;
    // Asked of processes that show on a GPU only: it costs a look into their environment.
    bool has_token(const ProcessStat& process);
    enum class Belongs { yes, no, as_parent };
    Belongs belongs(const ProcessStat& process) const;
    void forget_the_gone(const std::vector<ProcessEntry>& all);
    bool is_own(ProcessStat process);
    void note_seen(const ProcessStat& process, std::uint64_t inode);
    static ProcessOwner owner_of(const Seen& seen);

    RunProcesses run_;
    Path proc_;
    std::map<pid_t, Seen> seen_;
    // Others, as of the last looks: spares reading what they are again and again.
    std::unordered_map<pid_t, Other> others_;
    // Those whose environment was read, with their start times.
    std::map<pid_t, std::uint64_t> without_token_;
    unsigned looks_ = 0;
};

}  // namespace ponk::gpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doubles/executor_contract.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/process.hpp"

#include <string>
#include <sys/prctl.h>

namespace ponk::executor {

// Ends one process and never our whole group, which a pid of 0 would mean.
void end_process(pid_t pid);

// The target of these tests. All share a home, so that the supervisor is written once.
ExecutorUnderTest make_local(const Path& root);

// What only this target promises.
class LocalExecutor : public ExecutorContract {
protected:
    static RunProcesses processes(const JobSpec& spec);
    // The forging scripts wait for this, so that the true files can be read before.
    static void let_forge(const JobSpec& spec)
    {
        ASSERT_TRUE(os::replace_file(spec.directory / "go", ""));
    }
    static void let_end(const JobSpec& spec)
    {
        ASSERT_TRUE(os::replace_file(spec.directory / "end", ""));
    }
    static std::string key_of(const JobSpec& spec);
    // The script goes on without them.
    void kill_supervisors(const JobSpec& spec)
    {
        const auto found = processes(spec);
        end_process(found.guard.pid);
        end_process(found.stub.pid);
    }
    // Starts a supervisor that is no descendant of ours, as after a restart of the daemon.
    void start_elsewhere(const JobSpec& spec);
    void TearDown() override
    {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        ExecutorContract::TearDown();
    }
};

}  // namespace ponk::executor

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
    static RunProcesses processes(const Job& job);
    // The forging scripts wait for this, so that the true files can be read before.
    static void let_forge(const Job& job)
    {
        ASSERT_TRUE(os::replace_file(job.context.directory.task() / "go", ""));
    }
    static void let_end(const Job& job)
    {
        ASSERT_TRUE(os::replace_file(job.context.directory.task() / "end", ""));
    }
    static std::string key_of(const Job& job);
    // The script goes on without them.
    void kill_supervisors(const Job& job)
    {
        const auto found = processes(job);
        end_process(found.guard.pid);
        end_process(found.stub.pid);
    }
    // Starts a supervisor that is no descendant of ours, as after a restart of the daemon.
    void start_elsewhere(const Job& job);
    void TearDown() override
    {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        ExecutorContract::TearDown();
    }
};

}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#include "executor/local/local_test_support.hpp"
#include "os/directory.hpp"

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;

// Scripts that write into the files by which their run is steered.
class ForgedControl : public LocalExecutor {
protected:
    // The supervisors of a script that has forged its files by now and is still there.
    RunProcesses forge(const Job& job)
    {
        start(job);
        const auto pids = processes(job);
        auto status = follow(job, JobPhase::running);
        let_forge(job);
        while (status.log_length == 0)
            status = *target_.executor->sync(
                job.spec.id.text(), job.context.directory, status, after(1s), {});
        return pids;
    }
};

INSTANTIATE_TEST_SUITE_P(Here,
                         ForgedControl,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

constexpr const char* forged_exit =
    "ponk-exit 1\ncode 0\nsignal 0\nby stub\ncause script\nlog-length 0\nend\n";

TEST_P(ForgedControl, WhatAScriptWritesIntoControlFilesIsNotBelieved)
{
    for (const auto* name : {"forge", "block"}) {
        auto job = make_job(name);
        job.spec.program.arguments = {forged_exit};
        start(job);
        let_forge(job);
        let_end(job);

        const auto status = follow(job);

        EXPECT_EQ(status.exit->status(), 4) << name;
        EXPECT_EQ(status.exit->by, "stub");
        EXPECT_EQ(status.exit->cause, "script");
        EXPECT_EQ(status.exit->log_length, log_of(job).size());
    }
}

TEST_P(ForgedControl, ForgedFilesDoNotMisleadWhoStandsInForTheSupervisor)
{
    for (const auto* name : {"forge", "block"}) {
        auto job = make_job(name);
        job.spec.program.arguments = {
            "ponk-ended 1\ncode 0\nsignal 0\ncause script\nended 5\nend\n"};
        const auto pids = forge(job);
        end_process(pids.guard.pid);
        end_process(pids.stub.pid);
        let_end(job);

        const auto status = follow(job);

        EXPECT_EQ(status.exit->status(), 4) << name;
        EXPECT_EQ(status.exit->by, "daemon");
        EXPECT_EQ(status.exit->cause, "script");
    }
}

TEST_P(ForgedControl, TheGuardTakesOverBesideAForgedRecord)
{
    auto job = make_job("forge");
    job.spec.program.arguments = {forged_exit};
    const auto pids = forge(job);
    end_process(pids.stub.pid);
    let_end(job);

    const auto status = follow(job);

    EXPECT_EQ(status.exit->status(), 4);
    EXPECT_EQ(status.exit->by, "stub");
}

TEST_P(ForgedControl, TheScriptIsNotGivenTheKey)
{
    const auto job = make_job("environment");
    start(job);
    follow(job);

    EXPECT_EQ(log_of(job).find(key_of(job)), std::string::npos);
    const auto entries = os::list_directory(job.context.directory.task()).value();
    for (const auto& entry : entries) {
        const auto bytes = os::read_file(job.context.directory.task() / entry.name);
        EXPECT_EQ(bytes.value_or("").find(key_of(job)), std::string::npos) << entry.name;
    }
}

}  // namespace
}  // namespace ponk::executor

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
    RunProcesses forge(const JobSpec& spec)
    {
        start(spec);
        const auto pids = processes(spec);
        auto status = follow(spec, JobPhase::running);
        let_forge(spec);
        while (status.log_length == 0)
            status = *target_.executor->sync(spec.id.text(), spec.directory, status, after(1s), {});
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
        auto spec = job(name);
        spec.arguments = {forged_exit};
        start(spec);
        let_forge(spec);
        let_end(spec);

        const auto status = follow(spec);

        EXPECT_EQ(status.exit->status(), 4) << name;
        EXPECT_EQ(status.exit->by, "stub");
        EXPECT_EQ(status.exit->cause, "script");
        EXPECT_EQ(status.exit->log_length, log_of(spec).size());
    }
}

TEST_P(ForgedControl, ForgedFilesDoNotMisleadWhoStandsInForTheSupervisor)
{
    for (const auto* name : {"forge", "block"}) {
        auto spec = job(name);
        spec.arguments = {"ponk-ended 1\ncode 0\nsignal 0\ncause script\nended 5\nend\n"};
        const auto pids = forge(spec);
        end_process(pids.guard.pid);
        end_process(pids.stub.pid);
        let_end(spec);

        const auto status = follow(spec);

        EXPECT_EQ(status.exit->status(), 4) << name;
        EXPECT_EQ(status.exit->by, "daemon");
        EXPECT_EQ(status.exit->cause, "script");
    }
}

TEST_P(ForgedControl, TheGuardTakesOverBesideAForgedRecord)
{
    auto spec = job("forge");
    spec.arguments = {forged_exit};
    const auto pids = forge(spec);
    end_process(pids.stub.pid);
    let_end(spec);

    const auto status = follow(spec);

    EXPECT_EQ(status.exit->status(), 4);
    EXPECT_EQ(status.exit->by, "stub");
}

TEST_P(ForgedControl, TheScriptIsNotGivenTheKey)
{
    const auto spec = job("environment");
    start(spec);
    follow(spec);

    EXPECT_EQ(log_of(spec).find(key_of(spec)), std::string::npos);
    const auto entries = os::list_directory(spec.directory).value();
    for (const auto& entry : entries) {
        const auto bytes = os::read_file(spec.directory / entry.name);
        EXPECT_EQ(bytes.value_or("").find(key_of(spec)), std::string::npos) << entry.name;
    }
}

}  // namespace
}  // namespace ponk::executor

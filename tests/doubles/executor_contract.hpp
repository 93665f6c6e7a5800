// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"
#include "executor/run_directory/working_copy.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace ponk::executor {

// A target to be held to the contract. Its project holds these scripts:
//   hello   prints "hello", then each argument on a line; exit 0
//   three   prints "no newline at the end" without one; exit 3
//   wait    prints "ready", then waits for the request to end; exit 0 or by the signal
//   output  writes outputs/model.txt; exit 0
struct ExecutorUnderTest {
    std::unique_ptr<Executor> executor;
    Job job;                    // all but id, token, directory and script
    std::string script_suffix;  // of the names above
};

// A project of these scripts, name and text, whose outputs are what model.txt holds. They must
// stay.
using Scripts = std::span<const std::pair<const char*, const char*>>;
TreeStore script_trees(Scripts scripts);

struct ContractTarget {
    std::string name;
    // `root` is an empty folder that lives as long as the test.
    std::function<ExecutorUnderTest(const Path& root)> make;
};

// What every executor promises. A target's tests instantiate it:
//   INSTANTIATE_TEST_SUITE_P(Local, ExecutorContract, testing::Values(ContractTarget{…}));
class ExecutorContract : public testing::TestWithParam<ContractTarget> {
protected:
    void SetUp() override;
    void TearDown() override;

    Job make_job(const std::string& script);
    // Places and launches; the test fails when either does.
    std::string start(const Job& job);
    // What launch returned; before that, what the run is called.
    [[nodiscard]] std::string handle_of(const Job& job) const;
    // Follows the job until it is over or the phase is `phase`.
    JobStatus follow(const Job& job, JobPhase phase = JobPhase::ended);
    std::string log_of(const Job& job);

    Path root_;
    std::map<std::string, std::string> handles_;  // by run: what launch returned
    ExecutorUnderTest target_;
};

inline void PrintTo(const ContractTarget& target, std::ostream* out)
{
    *out << target.name;
}

}  // namespace ponk::executor

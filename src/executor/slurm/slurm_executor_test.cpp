// SPDX-License-Identifier: Apache-2.0
// Needs a Slurm cluster of this machine that SLURM_CONF names, with a partition `low` whose jobs
// give way to those of the usual one. tests/integration/slurm starts one and runs this program.
#include "doubles/executor_contract.hpp"
#include "executor/local/local_executor.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/slurm/slurm_executor.hpp"
#include "executor/slurm/slurm_notes.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <thread>

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr std::pair<const char*, const char*> scripts[] = {
    {"hello.sh", "echo hello; for word; do printf '%s\\n' \"$word\"; done"},
    {"three.sh", "printf 'no newline at the end'; exit 3"},
    {"wait.sh", "echo ready; exec sleep 100"},
    {"six.sh", "sleep 6"},
    {"told.sh", "trap 'echo told' TERM; echo ready; while :; do sleep 0.1; done"},
    {"output.sh", "mkdir -p outputs; echo weights >outputs/model.txt"},
    {"about.sh", "pwd; umask; env | grep -E '^(SLURM|SBATCH|SECRET|CUDA|TMPDIR)' | sort"},
};

// A Slurm executor stands on one of this machine, which must outlive it.
ExecutorUnderTest make_slurm(const Path& root)
{
    static std::vector<std::unique_ptr<Executor>> kept;
    kept.push_back(local::make_executor({root / "home", script_trees(scripts)}).value());
    ExecutorUnderTest target;
    target.executor = slurm::make_executor({root / "home", *kept.back(), 1s}).value();
    target.job.spec.program.framework = "Python";
    target.job.spec.program.interpreter = "/bin/sh";
    target.job.spec.location.slurm = model::SlurmSpec();
    target.job.context.submitter_environment = {
        "PATH=/usr/bin:/bin", "SLURM_CONF=" + os::variable(os::own_variables(), "SLURM_CONF")};
    target.job.spec.policy.grace = 1s;
    target.script_suffix = ".sh";
    return target;
}

INSTANTIATE_TEST_SUITE_P(Slurm,
                         ExecutorContract,
                         testing::Values(ContractTarget{"slurm", make_slurm}),
                         testing::PrintToStringParamName());

// What only this target promises.
class SlurmExecutor : public ExecutorContract {
protected:
    static std::string ask(std::vector<std::string> words)
    {
        const auto done = os::run({.argv = std::move(words)}, after(20s), {});
        return done ? done->out : done.error().message();
    }
    [[nodiscard]] slurm::SlurmNotes notes() const { return slurm::SlurmNotes(root_ / "home"); }
    [[nodiscard]] std::string number_of(const Job& job) const
    {
        return notes().find(job.spec.id.text()).value()->job;
    }
    // As when the daemon is killed between sbatch's answer and the note of it.
    void forget_number(const Job& job)
    {
        auto note = notes().find(job.spec.id.text()).value().value();
        note.job.clear();
        ASSERT_TRUE(notes().write(job.spec.id.text(), note));
        target_.executor = make_slurm(root_).executor;
    }
    // A second job of the same script, as when an answer was lost and the request repeated.
    static std::string submit_again(const Job& job, const char* when)
    {
        const auto task = job.context.directory.task();
        const auto said = ask({"sbatch",
                               "--parsable",
                               std::string("--begin=") + when,
                               "--job-name=ponk-" + job.spec.id.text(),
                               "--output=/dev/null",
                               (task / "job.sh").native()});
        return said.substr(0, said.find('\n'));
    }
    // Jobs that have the run's name, whoever submitted them.
    static std::string numbers_of(const Job& job)
    {
        return ask({"squeue", "-h", "-t", "all", "-n", "ponk-" + job.spec.id.text(), "-o", "%A"});
    }
};

INSTANTIATE_TEST_SUITE_P(Slurm,
                         SlurmExecutor,
                         testing::Values(ContractTarget{"slurm", make_slurm}),
                         testing::PrintToStringParamName());

TEST_P(SlurmExecutor, TheScriptSeesItsOwnAllocationAndNoOther)
{
    auto job = make_job("about");
    job.context.umask = 027;
    job.spec.program.variables = {{"SECRET", "s3cr3t-value"}};
    job.spec.location.slurm->gres = "gpu:stand:1";
    for (const char* word : {"SLURM_JOB_ID=999999",
                             "SLURM_CPU_BIND=none",
                             "SBATCH_PARTITION=nowhere",
                             "CUDA_VISIBLE_DEVICES=7",
                             "TMPDIR=/nowhere"})
        job.context.submitter_environment.emplace_back(word);
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);

    const auto log = log_of(job);
    EXPECT_THAT(log, HasSubstr(job.context.directory.work().native() + "\n0027\n"));
    EXPECT_THAT(log, HasSubstr("SLURM_JOB_ID=" + number_of(job) + "\n"));
    EXPECT_THAT(log, HasSubstr("SECRET=s3cr3t-value\n"));
    EXPECT_THAT(log, HasSubstr("CUDA_VISIBLE_DEVICES=0\n"));
    for (const char* foreign : {"999999", "SLURM_CPU_BIND", "SBATCH_PARTITION", "/nowhere"})
        EXPECT_THAT(log, Not(HasSubstr(foreign)));
    const auto shown = ask({"scontrol", "show", "job", number_of(job)});
    EXPECT_THAT(shown, HasSubstr("Requeue=0"));
    EXPECT_THAT(shown, Not(HasSubstr("s3cr3t-value")));
    EXPECT_FALSE(std::filesystem::exists(job.context.directory.task() / control::environment));
}

TEST_P(SlurmExecutor, AWaitingRunSaysWhyAndACancelRemovesItFromTheQueue)
{
    auto job = make_job("hello");
    job.spec.location.slurm->options = {"--begin=now+1hour"};
    start(job);

    auto status = follow(job, JobPhase::queued);
    EXPECT_THAT(status.reason, HasSubstr("job " + number_of(job)));
    for (const auto deadline = after(20s);
         status.reason.find("(BeginTime)") == status.reason.npos &&
         Deadline::clock::now() < deadline;)
        status =
            target_.executor->sync(handle_of(job), job.context.directory, status, after(1s), {})
                .value();
    EXPECT_THAT(status.reason, HasSubstr("(BeginTime)"));
    ASSERT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 1s));

    EXPECT_EQ(follow(job).exit->cause, "cancel");
    EXPECT_EQ(log_of(job), "(no log)");
}

TEST_P(SlurmExecutor, AJobThatWasEndedByOthersSaysSo)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);

    ask({"scancel", number_of(job)});

    const auto exit = follow(job).exit;
    EXPECT_EQ(exit->cause, "terminated");
    EXPECT_EQ(exit->by, "stub");
    EXPECT_EQ(log_of(job), "ready\n");
}

TEST_P(SlurmExecutor, AJobThatGivesWayIsPreempted)
{
    auto low = make_job("wait");
    low.spec.location.slurm->partition = "low";
    low.spec.location.slurm->options = {"--exclusive", "--nodelist=n1"};
    start(low);
    follow(low, JobPhase::running);
    auto high = make_job("hello");
    high.spec.location.slurm->options = {"--exclusive", "--nodelist=n1"};
    start(high);

    EXPECT_EQ(follow(low).exit->cause, "preempted");
    EXPECT_EQ(follow(high).exit->status(), 0);
}

TEST_P(SlurmExecutor, ARunWhoseSupervisorsWereKilledIsLostWithWhatSlurmSays)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);
    const auto text = os::read_file(job.context.directory.task() / control::pid).value();
    const auto processes = parse_processes(text).value();

    for (const auto& process : {processes.guard, processes.stub, processes.main}) {
        ASSERT_GT(process.pid, 1);
        ::kill(process.pid, SIGKILL);
    }

    EXPECT_THAT(follow(job, JobPhase::lost).reason,
                HasSubstr("Slurm reports job " + number_of(job)));
}

TEST_P(SlurmExecutor, ALaunchThatWasCutOffIsFoundAgain)
{
    const auto job = make_job("wait");
    start(job);
    const auto number = number_of(job);
    forget_number(job);

    start(job);

    EXPECT_EQ(number_of(job), number);
    EXPECT_EQ(numbers_of(job), number + "\n");
    follow(job, JobPhase::running);
    ASSERT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 1s));
    EXPECT_EQ(follow(job).exit->cause, "cancel");
}

TEST_P(SlurmExecutor, OfTwoJobsThatASubmissionMadeTheOneThatExecutesCounts)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);
    const auto number = number_of(job);
    auto note = notes().find(job.spec.id.text()).value().value();
    note.job = submit_again(job, "now");
    ASSERT_TRUE(notes().write(job.spec.id.text(), note));
    target_.executor = make_slurm(root_).executor;
    JobStatus status;
    const auto deadline = after(9s);  // longer than an end without a record is waited for

    while (Deadline::clock::now() < deadline) {
        const auto next =
            target_.executor->sync(handle_of(job), job.context.directory, status, after(1s), {});
        ASSERT_TRUE(next) << next.error().message();
        status = *next;
        ASSERT_EQ(status.phase, JobPhase::running) << status.reason;
    }

    ask({"scancel", number});
    EXPECT_EQ(follow(job).exit->cause, "terminated");
}

TEST_P(SlurmExecutor, TheNextProcessKnowsAtOnceThatAJobWaits)
{
    auto job = make_job("hello");
    job.spec.location.slurm->options = {"--begin=now+1hour"};
    start(job);
    target_.executor = make_slurm(root_).executor;

    const auto status =
        target_.executor->sync(handle_of(job), job.context.directory, {}, after(0ms), {});

    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(status->phase, JobPhase::queued) << "or it would be submitted again, or withdrawn";
    ASSERT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 1s));
    EXPECT_EQ(follow(job).exit->cause, "cancel");
}

TEST_P(SlurmExecutor, AJobWhoseNumberNobodyHeardIsFollowedAndEndedByItsName)
{
    auto waiting = make_job("hello");
    waiting.spec.location.slurm->options = {"--begin=now+1hour"};
    start(waiting);
    const auto number = number_of(waiting);
    forget_number(waiting);

    EXPECT_EQ(follow(waiting, JobPhase::queued).phase, JobPhase::queued);
    EXPECT_EQ(number_of(waiting), number);
    forget_number(waiting);
    ASSERT_TRUE(target_.executor->cancel(handle_of(waiting), waiting.context.directory, 1s));

    EXPECT_EQ(follow(waiting).exit->cause, "cancel");
    EXPECT_THAT(ask({"squeue", "-h", "-j", number, "-t", "PD", "-o", "%A"}),
                Not(HasSubstr(number)));
    EXPECT_FALSE(std::filesystem::exists(waiting.context.directory.task() / control::environment));

    const auto running = make_job("hello");
    start(running);
    forget_number(running);
    EXPECT_EQ(follow(running).exit->status(), 0) << "its files tell";
}

TEST_P(SlurmExecutor, OfTwoJobsThatStartTogetherOneExecutesTheScriptWithAllThatItNeeds)
{
    auto job = make_job("about");
    job.spec.program.variables = {{"SECRET", "s3cr3t-value"}};
    job.spec.location.slurm->options = {"--begin=now+1hour"};
    start(job);
    const auto both = number_of(job) + "," + submit_again(job, "now+1hour");

    ask({"scontrol", "update", "JobId=" + both, "StartTime=now"});

    EXPECT_EQ(follow(job).exit->status(), 0);
    EXPECT_THAT(log_of(job), HasSubstr("SECRET=s3cr3t-value\n"));
    EXPECT_FALSE(std::filesystem::exists(job.context.directory.task() / control::environment));
}

TEST_P(SlurmExecutor, AnSbatchThatWasKilledMayHaveBeenHeard)
{
    const auto folder = root_ / "guarded";
    ASSERT_TRUE(os::make_directories(folder));
    for (const char* name : {"squeue", "scancel", "sacct", "scontrol"})
        std::filesystem::create_symlink(os::find_program(name, "/usr/bin:/bin").value(),
                                        folder / name);
    ASSERT_TRUE(os::replace_file(
        folder / "sbatch", "#!/bin/sh\n/usr/bin/sbatch \"$@\" >/dev/null\nkill -9 $$\n", 0700));
    auto job = make_job("wait");
    job.context.submitter_environment[0] = "PATH=" + folder.native() + ":/usr/bin:/bin";
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));

    const auto launched = target_.executor->launch(job, {});

    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().kind(), ErrorKind::unreachable) << launched.error().message();
    EXPECT_EQ(target_.executor->launch(job, {}).error().message(), launched.error().message())
        << "not asked again at once";
    target_.executor = make_slurm(root_).executor;
    start(job);
    EXPECT_EQ(numbers_of(job), number_of(job) + "\n");
    follow(job, JobPhase::running);
    ASSERT_TRUE(target_.executor->cancel(handle_of(job), job.context.directory, 1s));
    EXPECT_EQ(follow(job).exit->cause, "cancel");
}

TEST_P(SlurmExecutor, AScriptHearsOnceThatItIsToEnd)
{
    const auto job = make_job("told");
    start(job);
    follow(job, JobPhase::running);

    ask({"scancel", number_of(job)});

    EXPECT_EQ(follow(job).exit->cause, "terminated");
    // The shell says as well how its child ended.
    const auto log = log_of(job);
    EXPECT_NE(log.find("told\n"), log.npos);
    EXPECT_EQ(log.find("told\n"), log.rfind("told\n")) << log;
}

TEST_P(SlurmExecutor, WhatSlurmRefusesIsAnErrorInItsWordsAndLeavesNothing)
{
    auto job = make_job("hello");
    job.spec.location.slurm->partition = "nowhere";
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));

    const auto launched = target_.executor->launch(job, {});

    ASSERT_FALSE(launched);
    EXPECT_THAT(launched.error().message(), HasSubstr("invalid partition specified: nowhere"));
    EXPECT_FALSE(notes().find(job.spec.id.text()).value());
    EXPECT_FALSE(std::filesystem::exists(job.context.directory.task() / control::environment));
}

// Requests of Slurm's commands so far: those of nodes and of the question itself are not counted.
long requests_of_clients(const std::string& statistics)
{
    long count = 0;
    const auto end = statistics.find("statistics by user");
    for (auto at = statistics.find("REQUEST_"); at < end;
         at = statistics.find("REQUEST_", at + 1)) {
        const auto name = statistics.substr(at, statistics.find_first_of(" \t", at) - at);
        if (name == "REQUEST_COMPLETE_BATCH_SCRIPT" || name == "REQUEST_STATS_INFO") continue;
        count += std::atol(statistics.c_str() + statistics.find("count:", at) + 6);
    }
    return count;
}

TEST_P(SlurmExecutor, ManyRunsCostLittleMoreThanARequestEach)
{
    constexpr int runs = 30;
    std::vector<Job> jobs;
    // Longer than the time after which a run that has not begun is asked for.
    for (int i = 0; i < runs; ++i)
        jobs.push_back(make_job(i % 4 == 0 ? "six" : "hello"));
    const auto before = requests_of_clients(ask({"sdiag"}));
    const auto begin = boot_milliseconds();

    for (const auto& job : jobs)
        start(job);
    for (const auto& job : jobs)
        EXPECT_EQ(follow(job).exit->status(), 0);

    const auto cost = requests_of_clients(ask({"sdiag"})) - before;
    EXPECT_GE(cost, runs);
    // Those that wait are asked for together, by two requests every 5 seconds.
    const auto seconds = (boot_milliseconds() - begin) / 1000;
    EXPECT_LE(cost, runs + 2 * (seconds / 5)) << seconds << " s";
}

}  // namespace
}  // namespace ponk::executor

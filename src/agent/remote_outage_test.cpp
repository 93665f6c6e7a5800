// SPDX-License-Identifier: Apache-2.0
// Machines that go away and come back.
#include "agent/remote_test_support.hpp"
#include "executor/run_directory/control_directory.hpp"

namespace ponk::executor {
namespace {

TEST_P(RemoteExecutor, CutsLoseAndDoubleNothing)
{
    const auto job = make_job("count");
    start(job);
    int cuts = 0;
    auto next = after(100ms);

    const auto status = follow_patiently(job, [&] {
        if (Deadline::clock::now() < next || cuts == 6) return;
        next = after(250ms);
        ++cuts;
        ::kill(site->machine.pid, SIGKILL);
    });

    ASSERT_TRUE(status.exit) << status.reason;
    EXPECT_EQ(status.exit->status(), 7);
    std::string expected;
    for (int i = 0; i < 400; ++i)
        expected += std::to_string(i) + "\n";
    EXPECT_EQ(log_of(job), expected);
    EXPECT_GT(site->machine.connections, 1);  // how many more depends on how quickly they begin
}

TEST_P(RemoteExecutor, AMachineThatIsAwayIsAnOutageAndNoEnd)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);
    site->machine.down = true;
    ::kill(site->machine.pid, SIGKILL);

    JobStatus seen{.phase = JobPhase::running};
    executor().sync(job.spec.id.text(), job.context.directory, seen, after(2s), {});
    const auto again =
        executor().sync(job.spec.id.text(), job.context.directory, seen, after(2s), {});

    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind(), ErrorKind::unreachable);
    EXPECT_THAT(again.error().message(), HasSubstr("no route to the machine"));
    const auto heard = executor().cancel(job.spec.id.text(), job.context.directory, 1s);
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().kind(), ErrorKind::unreachable);
    const auto collected = executor().collect(job.spec.id.text(), job.context.directory, {}, {});
    ASSERT_FALSE(collected);
    EXPECT_EQ(collected.error().kind(), ErrorKind::unreachable);
    const auto launched = executor().launch(job, {});
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().kind(), ErrorKind::unreachable);
    const auto cleaned = executor().clean(job.spec.id.text(), job.context.directory);
    ASSERT_FALSE(cleaned);
    EXPECT_EQ(cleaned.error().kind(), ErrorKind::unreachable);
    site->machine.down = false;
    const auto deadline = after(30s);
    while (!executor().cancel(job.spec.id.text(), job.context.directory, 1s) &&
           Deadline::clock::now() < deadline)
        std::this_thread::sleep_for(20ms);
    EXPECT_EQ(follow(job).exit->cause, "cancel");
}

TEST_P(RemoteExecutor, ARunThatEndedWhileNobodyLookedIsThereLater)
{
    const auto job = make_job("output");
    start(job);
    site->machine.down = true;
    ::kill(site->machine.pid, SIGKILL);
    std::this_thread::sleep_for(300ms);
    site->machine.down = false;
    // Another daemon, which knows the folder only.
    target_.executor =
        remote::make_executor({root_ / "home", "remote", site->objects, site->hosts, {}}).value();

    EXPECT_EQ(follow_patiently(job, [] {}).exit->status(), 0);

    const auto collected = executor().collect(job.spec.id.text(), job.context.directory, {}, {});
    ASSERT_TRUE(collected) << collected.error().message();
    EXPECT_TRUE(collected->outputs);
}

TEST_P(RemoteExecutor, ARequestToEndThatOvertakesTheLaunchHolds)
{
    const auto job = make_job("wait");
    ASSERT_TRUE(executor().stage(job, [](const std::string&) {}, {}));
    ASSERT_TRUE(executor().cancel(job.spec.id.text(), job.context.directory, 1s));

    ASSERT_TRUE(executor().launch(job, {}));

    EXPECT_EQ(follow(job).exit->cause, "cancel");
}

TEST_P(RemoteExecutor, NoiseOfALoginShellIsSkipped)
{
    site->machine.before = "echo Welcome; head -c 30000 /dev/urandom; ";
    const auto job = make_job("hello");
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);
}

TEST_P(RemoteExecutor, AShellThatNeverGetsThereIsQuoted)
{
    site->machine.before = "echo This account is closed; exit 1; ";
    const auto staged = executor().stage(make_job("hello"), [](const std::string&) {}, {});

    ASSERT_FALSE(staged);
    EXPECT_EQ(staged.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(staged.error().message(), HasSubstr("This account is closed"));
}

TEST_P(RemoteExecutor, AFolderThatIsGoneThereIsALostRun)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);
    const RunDirectory there(root_ / "machine/user/.ponk/runs" / job.spec.id.text());
    const auto processes =
        parse_processes(os::read_file(there.task() / control::pid).value()).value();
    for (const auto* process : {&processes.guard, &processes.stub, &processes.main}) {
        ASSERT_GT(process->pid, 1);
        ::kill(process->pid, SIGKILL);
    }
    while (!os::remove_tree(there.root()))
        std::this_thread::sleep_for(10ms);

    JobStatus seen{.phase = JobPhase::running, .log_length = 6};
    const auto status =
        executor().sync(job.spec.id.text(), job.context.directory, seen, after(5s), {});

    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(status->phase, JobPhase::lost);
    EXPECT_THAT(status->reason, HasSubstr("'host'"));
}

// As when a disk is not mounted for a while.
TEST_P(RemoteExecutor, AnotherFolderInThePlaceOfTheHomeIsAnOutageAndNoEnd)
{
    for (const bool cut : {true, false}) {
        const auto job = make_job("late");
        start(job);
        follow(job, JobPhase::running);
        const auto home = root_ / "machine/user/.ponk";
        const auto aside = root_ / "machine/user/aside";
        std::filesystem::rename(home, aside);
        if (cut) ::kill(site->machine.pid, SIGKILL);
        ASSERT_NO_FATAL_FAILURE(expect_outage_of_its_disk(job));

        EXPECT_TRUE(os::remove_tree(home));
        std::filesystem::rename(aside, home);

        const auto status = follow_patiently(job, [] {});
        ASSERT_TRUE(status.exit) << status.reason;
        EXPECT_EQ(status.exit->status(), 4);
    }
}

TEST_P(RemoteExecutor, AnotherFolderInThePlaceOfTheRunsIsAnOutageAndNoEnd)
{
    for (const bool cut : {true, false}) {
        const auto job = make_job("late");
        start(job);
        follow(job, JobPhase::running);
        const auto runs = root_ / "machine/user/.ponk/runs";
        const auto aside = root_ / "machine/user/aside";
        std::filesystem::rename(runs, aside);
        ASSERT_TRUE(os::make_directories(runs));
        if (cut) ::kill(site->machine.pid, SIGKILL);
        ASSERT_NO_FATAL_FAILURE(expect_outage_of_its_disk(job));
        EXPECT_FALSE(is_there(runs / job.spec.id.text()));

        EXPECT_TRUE(os::remove_tree(runs));
        std::filesystem::rename(aside, runs);

        const auto status = follow_patiently(job, [] {});
        ASSERT_TRUE(status.exit) << status.reason;
        EXPECT_EQ(status.exit->status(), 4);
    }
}

TEST_P(RemoteExecutor, WhatCarriedABrokenConnectionIsGoneBeforeAnybodyAsksAgain)
{
    const auto job = make_job("journal");
    ASSERT_TRUE(executor().stage(job, {}, {}));
    const pid_t carrier = site->machine.pid;
    ASSERT_GT(carrier, 0);
    ASSERT_EQ(::kill(carrier, SIGKILL), 0);
    // A child that ended is a process until somebody has waited for it.
    for (int i = 0; i < 6'000 && ::kill(carrier, 0) == 0; ++i)
        std::this_thread::sleep_for(5ms);
    EXPECT_NE(::kill(carrier, 0), 0);
}

TEST_P(RemoteExecutor, MachineThatWasDetachedIsForgottenAndOneThatIsAwayIsToldOf)
{
    const auto job = make_job("journal");
    ASSERT_TRUE(executor().stage(job, {}, {}));
    site->hosts = std::make_shared<HostPool>(
        [](const HostAddress&, Deadline, const std::stop_token&) -> Result<Stream> {
            return fail(ErrorKind::unavailable, "no way to the machine");
        });
    const auto executor_over = [&](std::shared_ptr<HostPool> hosts) {
        return remote::make_executor({root_ / "home", "remote", site->objects, hosts, {}}).value();
    };
    EXPECT_EQ(executor_over(site->hosts)->environments()->list({}).value().problems.size(), 1U);
    const auto strange = std::make_shared<HostPool>(
        [](const HostAddress&, Deadline, const std::stop_token&) -> Result<Stream> {
            return fail(ErrorKind::conflict, "the host key of 'host' is not known yet");
        });
    EXPECT_TRUE(executor_over(strange)->environments()->list({}).value().problems.empty());
    EXPECT_TRUE(executor_over(site->hosts)->environments()->list({}).value().problems.empty())
        << "nobody asks a machine that was given up";
}

}  // namespace
}  // namespace ponk::executor

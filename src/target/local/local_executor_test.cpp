// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "model/metric_journal.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "target/control_directory.hpp"
#include "target/control_seal.hpp"
#include "target/embedded.hpp"
#include "target/event_test_support.hpp"
#include "target/executor_contract.hpp"
#include "target/local/local_executor.hpp"

#include <csignal>
#include <random>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

namespace ponk::target {
namespace {

using namespace std::chrono_literals;

constexpr std::pair<const char*, const char*> scripts[] = {
    {"hello.sh", "echo hello; for word; do printf '%s\\n' \"$word\"; done"},
    {"three.sh", "printf 'no newline at the end'; exit 3"},
    {"wait.sh", "echo ready; exec sleep 100"},
    {"output.sh", "mkdir outputs; echo weights >outputs/model.txt"},
    {"slow.sh", "echo a; sleep 0.1; echo b; exit 9"},
    {"environment.sh", "env -0"},
    {"folder.sh", "pwd; umask; ls -d \"$AZUREML_NATIVE_SHARE_DIRECTORY\""},
    {"forge.sh",
     "while [ ! -e ../go ]; do sleep 0.01; done; "
     "for f in exit ended pid failed; do printf '%s' \"$1\" >../new && mv ../new ../$f; done; "
     "echo forged; while [ ! -e ../end ]; do sleep 0.01; done; exit 4"},
    {"block.sh",
     "while [ ! -e ../go ]; do sleep 0.01; done; "
     "rm -f ../pid; mkfifo ../pid; mkdir ../exit ../ended; ln -s /etc/passwd ../failed; "
     "echo blocked; while [ ! -e ../end ]; do sleep 0.01; done; exit 4"},
    {"events.sh",
     "mkdir -p logs/train; cat ../one >logs/train/events.out.tfevents.1; "
     "while [ ! -e ../go ]; do sleep 0.01; done; cat ../two >>logs/train/events.out.tfevents.1; "
     "while [ ! -e ../end ]; do sleep 0.01; done; cat ../three >>logs/train/events.out.tfevents.1"},
    {"orphan.sh", "setsid sleep 99 & echo $! >../orphan; sleep 0.15; exit 5"},
};

// A pid of 0 would mean our whole group.
void end_process(pid_t pid)
{
    ASSERT_GT(pid, 1);
    ::kill(pid, SIGKILL);
}

// Shared by all tests: the supervisor is written once.
class Home : public testing::Environment {
public:
    void SetUp() override
    {
        path = os::make_temporary_directory(testing::TempDir(), "home-").value();
    }
    void TearDown() override { EXPECT_TRUE(os::remove_tree(path)); }
    static inline Path path;
};
const auto* const home = testing::AddGlobalTestEnvironment(new Home);

ExecutorUnderTest make_local(const Path& /*root*/)
{
    local::Options options;
    options.home = Home::path;
    options.trees.materialise =
        [](const JobSpec&, const Path& to, std::stop_token) -> Result<Notices> {
        TRY(os::make_directories(to));
        for (const auto& [name, text] : scripts)
            TRY(os::replace_file(to / name, text));
        return Notices();
    };
    options.trees.store = [](const Path& folder, std::stop_token) -> Result<Collected> {
        return Collected{sha256(TRY(os::read_file(folder / "model.txt"))), {}};
    };
    ExecutorUnderTest target;
    target.executor = local::make_executor(std::move(options)).value();
    target.spec.framework = "Python";
    target.spec.interpreter = "/bin/sh";
    target.spec.ambient = {"PATH=/usr/bin:/bin"};
    target.spec.grace = 1s;
    target.script_suffix = ".sh";
    return target;
}

INSTANTIATE_TEST_SUITE_P(Local,
                         ExecutorContract,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

// What only this target promises.
class LocalExecutor : public ExecutorContract {
protected:
    RunProcesses processes(const JobSpec& spec)
    {
        const auto deadline = after(10s);
        while (Deadline::clock::now() < deadline) {
            if (const auto text = os::read_file(spec.directory / control::pid))
                return parse_processes(*text).value();
            std::this_thread::sleep_for(1ms);
        }
        ADD_FAILURE() << "no pid file";
        return {};
    }
    // The forging scripts wait for this, so that the true files can be read before.
    static void let_forge(const JobSpec& spec)
    {
        ASSERT_TRUE(os::replace_file(spec.directory / "go", ""));
    }
    static void let_end(const JobSpec& spec)
    {
        ASSERT_TRUE(os::replace_file(spec.directory / "end", ""));
    }
    static std::string key_of(const JobSpec& spec)
    {
        return RunKeys::load(Home::path / "run.key").value().of(spec.id.text());
    }
    void kill_supervisors(const JobSpec& spec)
    {
        const auto found = processes(spec);
        end_process(found.guard.pid);
        end_process(found.stub.pid);
    }
    // Starts a supervisor that is no descendant of ours, as after a restart of the daemon.
    void start_elsewhere(const JobSpec& spec)
    {
        ASSERT_TRUE(target_.executor->place(spec, [](const std::string&) {}, {}));
        const StubSpec text{.run = spec.id.text(),
                            .token = spec.token,
                            .directory = (spec.directory / "work").string(),
                            .program = "/bin/sh",
                            .argv = {"/bin/sh", spec.script}};
        ASSERT_TRUE(os::replace_file(spec.directory / "spec", to_text(text)));
        const auto stub = install_stub(Home::path / "lib").value();
        ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
        const auto done = os::run({.argv = {"sh",
                                            "-c",
                                            "{ printf '%s\\0' $3; env -i PONK_RUN_TOKEN=$2 "
                                            "PATH=$PATH env -0; } >$1/e; "
                                            "\"$0\" $1 3 4 3<$1/e 4>$1/said &",
                                            stub.string(),
                                            spec.directory.string(),
                                            spec.token,
                                            key_of(spec)}},
                                  after(10s),
                                  {});
        ASSERT_TRUE(done);
    }
    void TearDown() override
    {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        ExecutorContract::TearDown();
    }
};

INSTANTIATE_TEST_SUITE_P(Here,
                         LocalExecutor,
                         testing::Values(ContractTarget{"local", make_local}),
                         testing::PrintToStringParamName());

TEST_P(LocalExecutor, TheScriptSeesItsFolderUmaskAndSharedFolder)
{
    auto spec = job("folder");
    spec.umask = 027;
    spec.shared_directory = (root_ / "shared/p").string();
    start(spec);
    follow(spec);

    EXPECT_EQ(log_of(spec),
              (spec.directory / "work").string() + "\n0027\n" + (root_ / "shared/p").string() +
                  "/\n");
}

TEST_P(LocalExecutor, TheEnvironmentArrivesByteForByte)
{
    auto spec = job("environment");
    spec.variables = {
        {"LINES_", "a\nb"}, {"BYTES", "\xff\xfe"}, {"QUOTES", "'\"`$(x)"}, {"EMPTY", ""}};
    start(spec);
    follow(spec);

    const auto log = '\0' + log_of(spec);
    for (const auto& [name, value] : spec.variables)
        EXPECT_NE(log.find('\0' + name + "=" + value + '\0'), std::string::npos) << name;
}

TEST_P(LocalExecutor, ARestartedDaemonFindsTheRun)
{
    const auto spec = job("slow");
    start(spec);
    target_.executor.reset();
    target_.executor = make_local(root_).executor;

    const auto status = follow(spec);

    EXPECT_EQ(status.exit->status(), 9);
    EXPECT_EQ(status.exit->by, "stub");
    EXPECT_EQ(log_of(spec), "a\nb\n");
}

TEST_P(LocalExecutor, NumbersOfEventFilesAreInTheJournalWhileTheScriptRunsAndOnceInTheEnd)
{
    auto spec = job("events");
    spec.tensorboard = "logs";
    ASSERT_TRUE(os::make_directories(spec.directory));
    ASSERT_TRUE(os::replace_file(spec.directory / "one",
                                 event_file_begin(1) + scalar_record("loss", 4, 0)));
    ASSERT_TRUE(os::replace_file(spec.directory / "two", scalar_record("loss", 2, 1)));
    ASSERT_TRUE(os::replace_file(spec.directory / "three", scalar_record("loss", 1, 2)));
    const auto points = [&] {
        const auto bytes = os::read_file(spec.directory / "journal/tensorboard.journal");
        return bytes ? model::read_journal(*bytes, 0).points : std::vector<model::MetricPoint>();
    };
    const auto follow_until = [&](std::size_t count) {
        const auto deadline = after(20s);
        JobStatus seen;
        while (points().size() < count && Deadline::clock::now() < deadline)
            seen =
                target_.executor->sync(spec.id.text(), spec.directory, seen, after(5s), {}).value();
        EXPECT_EQ(points().size(), count);
        EXPECT_EQ(seen.phase, JobPhase::running);
        EXPECT_GT(seen.journal_length, 0U);
    };
    start(spec);
    follow_until(1);
    target_.executor.reset();
    let_forge(spec);
    target_.executor = make_local(root_).executor;
    follow_until(2);
    target_.executor.reset();
    let_end(spec);
    target_.executor = make_local(root_).executor;
    follow(spec);

    ASSERT_EQ(points().size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(points()[i].key, "train/loss");
        EXPECT_EQ(points()[i].step, static_cast<std::int64_t>(i));
    }
}

TEST_P(LocalExecutor, StandsInForAKilledSupervisor)
{
    const auto spec = job("slow");
    start(spec);
    kill_supervisors(spec);

    const auto status = follow(spec);

    EXPECT_EQ(status.exit->status(), 9);
    EXPECT_EQ(status.exit->by, "daemon");
    EXPECT_EQ(log_of(spec), "a\nb\n");
    EXPECT_EQ(status.exit->log_sha256, sha256("a\nb\n").text());
}

TEST_P(LocalExecutor, TheCodeOfAStrangerIsLearnedFromTheKernel)
{
    const auto spec = job("slow");
    start_elsewhere(spec);
    processes(spec);
    follow(spec, JobPhase::running);
    kill_supervisors(spec);

    const auto deadline = after(10s);
    JobStatus status{.phase = JobPhase::running};
    while (status.phase == JobPhase::running && Deadline::clock::now() < deadline)
        status =
            target_.executor->sync(spec.id.text(), spec.directory, status, deadline, {}).value();

    EXPECT_EQ(log_of(spec), "a\nb\n");
    if (status.phase == JobPhase::lost) GTEST_SKIP() << "kernel before 6.15: " << status.reason;
    EXPECT_EQ(status.exit->status(), 9);
    EXPECT_EQ(status.exit->by, "daemon");
}

TEST_P(LocalExecutor, ACodeNobodySawIsNeverGuessed)
{
    const auto spec = job("slow");
    start_elsewhere(spec);
    kill_supervisors(spec);
    while (os::identify(processes(spec).main.pid) == processes(spec).main)
        std::this_thread::sleep_for(1ms);

    const auto status = follow(spec, JobPhase::lost);

    EXPECT_FALSE(status.exit);
    EXPECT_NE(status.reason.find("cannot be known"), std::string::npos);
    EXPECT_EQ(log_of(spec), "a\nb\n");
}

TEST_P(LocalExecutor, CancelAndOrphansWorkWithoutASupervisor)
{
    const auto waiting = job("wait");
    const auto orphan = job("orphan");
    start(waiting);
    start(orphan);
    kill_supervisors(waiting);
    kill_supervisors(orphan);

    EXPECT_TRUE(target_.executor->cancel(waiting.id.text(), waiting.directory, 1s));

    const auto status = follow(waiting);
    EXPECT_EQ(status.exit->cause, "cancel");
    EXPECT_EQ(status.exit->status(), 128 + SIGTERM);
    const auto other = follow(orphan);
    EXPECT_EQ(other.exit->status(), 5);
    EXPECT_GE(other.exit->survivors, 1);
    const auto pid = parse_integer(trim(os::read_file(orphan.directory / "orphan").value()));
    EXPECT_FALSE(
        os::read_file(fmt::format("/proc/{}/cmdline", *pid)).value_or("").starts_with("sleep"));
}

constexpr const char* forged_exit =
    "ponk-exit 1\ncode 0\nsignal 0\nby stub\ncause script\nlog-length 0\nend\n";

TEST_P(LocalExecutor, WhatAScriptWritesIntoControlFilesIsNotBelieved)
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

TEST_P(LocalExecutor, ForgedFilesDoNotMisleadWhoStandsInForTheSupervisor)
{
    for (const auto* name : {"forge", "block"}) {
        auto spec = job(name);
        spec.arguments = {"ponk-ended 1\ncode 0\nsignal 0\ncause script\nended 5\nend\n"};
        start(spec);
        const auto pids = processes(spec);
        auto status = follow(spec, JobPhase::running);
        let_forge(spec);
        while (status.log_length == 0)
            status = *target_.executor->sync(spec.id.text(), spec.directory, status, after(1s), {});
        end_process(pids.guard.pid);
        end_process(pids.stub.pid);
        let_end(spec);

        status = follow(spec);

        EXPECT_EQ(status.exit->status(), 4) << name;
        EXPECT_EQ(status.exit->by, "daemon");
        EXPECT_EQ(status.exit->cause, "script");
    }
}

TEST_P(LocalExecutor, TheGuardTakesOverBesideAForgedRecord)
{
    auto spec = job("forge");
    spec.arguments = {forged_exit};
    start(spec);
    const auto pids = processes(spec);
    auto status = follow(spec, JobPhase::running);
    let_forge(spec);
    while (status.log_length == 0)
        status = *target_.executor->sync(spec.id.text(), spec.directory, status, after(1s), {});
    end_process(pids.stub.pid);
    let_end(spec);

    status = follow(spec);

    EXPECT_EQ(status.exit->status(), 4);
    EXPECT_EQ(status.exit->by, "stub");
}

TEST_P(LocalExecutor, TheScriptIsNotGivenTheKey)
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

TEST_P(LocalExecutor, AfterARebootTheRunIsLost)
{
    const auto spec = job("hello");
    ASSERT_TRUE(target_.executor->place(spec, [](const std::string&) {}, {}));
    ASSERT_TRUE(os::make_directories(spec.directory / control::claim));
    const SealedFiles files(spec.directory, key_of(spec));
    ASSERT_TRUE(files.publish(control::pid,
                              "ponk-pid 1\nstub 1 1\nguard 1 1\nmain 1 1\nboot before\nend\n"));

    EXPECT_EQ(follow(spec, JobPhase::lost).reason, "the host was rebooted while the script ran");
}

TEST_P(LocalExecutor, AClaimWhoseOwnerDiedEarlyIsTakenOver)
{
    const auto spec = job("hello");
    ASSERT_TRUE(target_.executor->place(spec, [](const std::string&) {}, {}));
    ASSERT_TRUE(os::make_directories(spec.directory / control::claim));
    EXPECT_EQ(follow(spec, JobPhase::lost).reason,
              "the supervisor was killed before the script began");

    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);
}

TEST_P(LocalExecutor, JournalsAreNews)
{
    const auto spec = job("wait");
    start(spec);
    auto status = follow(spec, JobPhase::running);
    while (status.log_length != 6)
        status = *target_.executor->sync(spec.id.text(), spec.directory, status, after(1s), {});
    std::jthread writer([&spec] {
        std::this_thread::sleep_for(20ms);
        EXPECT_TRUE(os::replace_file(spec.directory / "journal/1.journal", "abc"));
    });

    const auto next =
        target_.executor->sync(spec.id.text(), spec.directory, status, after(10s), {});

    EXPECT_EQ(next->journal_length, 3U);
    EXPECT_TRUE(target_.executor->cancel("", spec.directory, 1s));
    follow(spec);
}

TEST_P(LocalExecutor, KilledAtRandomMomentsTheRunStillTellsItsTruth)
{
    std::mt19937 random(11);
    for (int turn = 0; turn < 4; ++turn) {
        const auto spec = job("slow");
        start(spec);
        std::jthread killer([&, pause = random() % 120, which = random() % 3] {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause));
            const auto found = processes(spec);
            if (which != 0) end_process(found.guard.pid);
            if (which != 1) end_process(found.stub.pid);
        });

        const auto status = follow(spec);

        EXPECT_EQ(status.exit->status(), 9);
        EXPECT_EQ(log_of(spec), "a\nb\n");
        EXPECT_EQ(status.exit->log_length, 4U);
    }
}

}  // namespace
}  // namespace ponk::target

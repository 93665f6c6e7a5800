// SPDX-License-Identifier: Apache-2.0
// The executor for other machines with the real program at the other end of two pipes. With
// PONK_TEST_DOCKER and PONK_TEST_IMAGE set, containers too (tests/integration/box does that).
#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/take_snapshot.hpp"
#include "target/control_directory.hpp"
#include "target/executor_contract.hpp"
#include "target/remote/message.hpp"
#include "target/remote/remote_executor.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace ponk::target {
namespace {

using namespace std::chrono_literals;
using remote::BoxPool;
using remote::Stream;
using testing::HasSubstr;

constexpr std::pair<const char*, const char*> scripts[] = {
    {"hello.sh", "echo hello; for word; do printf '%s\\n' \"$word\"; done"},
    {"three.sh", "printf 'no newline at the end'; exit 3"},
    {"wait.sh", "echo ready; exec sleep 100"},
    {"output.sh", "mkdir outputs; echo weights >outputs/model.txt"},
    {"about.sh", "echo \"$HOME $ONLY_THERE $SECRET $AZUREML_NATIVE_SHARE_DIRECTORY\"; pwd; umask"},
    {"count.sh", "i=0; while [ $i -lt 400 ]; do echo $i; i=$((i+1)); sleep 0.005; done; exit 7"},
    {"much.sh",
     "head -c 9000000 /dev/zero | tr '\\0' x; mkdir -p outputs/deep; "
     "head -c 20000000 /dev/urandom >outputs/deep/model; sha256sum <outputs/deep/model; "
     "ln -s deep/model outputs/link; echo s3cret >outputs/s3cret.txt"},
    {"steal.sh",
     "cd \"$PONK_RUN_DIRECTORY\"; mv journal j2; ln -s \"$HOME/ssh\" journal; sleep 0.3; echo "
     "done"},
    {"clutter.sh",
     "exec python3 -c 'import os, sys\n"
     "for i in range(9900):\n"
     " n = (os.environ[\"PONK_RUN_DIRECTORY\"] + \"/journal/\").encode()\n"
     " open(n + b\"\\x01\" * 250 + b\"%05d\" % i, \"w\").close()\n"
     "sys.exit(6)'"},
    {"late.sh", "echo ready; sleep 3; exit 4"},
    {"forge.sh",
     "echo \"$1\" >\"$PONK_RUN_DIRECTORY/outputs\"; mkdir outputs; echo mine >outputs/model.txt"},
    {"beside.sh", "mkdir made; echo new >made/here.txt"},
    {"journal.sh",
     "printf abc >\"$PONK_RUN_DIRECTORY/journal/m-1\"; sleep 0.1; "
     "printf def >>\"$PONK_RUN_DIRECTORY/journal/m-1\""},
};

// As every program that speaks through pipes: a cut is an error, not a death.
const auto ignored = ::signal(SIGPIPE, SIG_IGN);

std::string setting(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

// A machine: a folder that stands for its home, and a ponk-box that is started there.
class Machine {
public:
    explicit Machine(Path root) : root_(std::move(root))
    {
        EXPECT_TRUE(os::make_directories(root_ / "user"));
    }

    Result<Stream> connect(const BoxAddress&, Deadline, const std::stop_token&)
    {
        if (down) return fail(ErrorKind::unavailable, "no route to the machine");
        auto in = TRY(os::make_pipe());
        auto out = TRY(os::make_pipe());
        const auto home = (root_ / "user/.ponk").string();
        const auto command = before + "exec " + program + " serve --home " + home;
        auto child = TRY(os::spawn({.argv = {"sh", "-c", command},
                                    .env = environment(),
                                    .descriptors = {{in.read.get(), 0}, {out.write.get(), 1}}}));
        pid = child.pid;
        ++connections;
        auto held = std::make_shared<os::Child>(std::move(child));
        return Stream{std::move(out.read),
                      std::move(in.write),
                      [held] {
                          ::kill(held->pid, SIGKILL);
                          static_cast<void>(os::wait_for_exit(*held, after(10s), {}));
                      },
                      {}};
    }

    std::vector<std::string> environment() const
    {
        std::vector<std::string> words{
            "PATH=/usr/bin:/bin", "HOME=" + (root_ / "user").string(), "ONLY_THERE=there"};
        if (!setting("PONK_TEST_DOCKER").empty())
            words.push_back("DOCKER_HOST=unix://" + setting("PONK_TEST_DOCKER"));
        return words;
    }

    std::string program = PONK_BOX_PROGRAM;
    std::string before;  // what the shell there does first
    std::atomic<bool> down{false};
    std::atomic<pid_t> pid{0};
    std::atomic<int> connections{0};

private:
    Path root_;
};

// One per test: machine, store, project.
struct Site {
    explicit Site(const Path& root)
        : machine(root / "machine"), objects(*snapshot::ObjectStore::open(root / "store")),
          boxes(std::make_shared<BoxPool>(
              [this](const BoxAddress& box, Deadline deadline, const std::stop_token& stop) {
                  return machine.connect(box, deadline, stop);
              })),
          project(root / "project")
    {
        EXPECT_TRUE(os::make_directories(project));
        for (const auto& [name, text] : scripts)
            EXPECT_TRUE(os::replace_file(project / name, text));
    }
    Digest take() const
    {
        snapshot::SnapshotOptions options;
        options.directory = project;
        options.git = snapshot::SnapshotOptions::Git::skip;
        return snapshot::take_snapshot(objects, options).value().id;
    }
    Machine machine;
    snapshot::ObjectStore objects;
    std::shared_ptr<BoxPool> boxes;
    Path project;
};
std::unique_ptr<Site> site;

ExecutorUnderTest make_remote(const Path& root, const std::string& type)
{
    site = std::make_unique<Site>(root);
    ExecutorUnderTest target;
    target.executor =
        remote::make_executor({root / "home", type, site->objects, site->boxes, {}}).value();
    target.spec.framework = "Python";
    target.spec.interpreter = "/bin/sh";
    target.spec.ambient = {"PATH=/nowhere"};
    target.spec.grace = 1s;
    target.spec.box.address = "box";
    target.spec.snapshot = site->take();
    target.spec.source = site->project;
    if (type == "remotedocker") target.spec.container.image = setting("PONK_TEST_IMAGE");
    target.script_suffix = ".sh";
    return target;
}

std::vector<ContractTarget> machines()
{
    std::vector<ContractTarget> out{
        {"remote", [](const Path& root) { return make_remote(root, "remote"); }}};
    if (!setting("PONK_TEST_DOCKER").empty())
        out.push_back(
            {"remotedocker", [](const Path& root) { return make_remote(root, "remotedocker"); }});
    return out;
}

INSTANTIATE_TEST_SUITE_P(Box,
                         ExecutorContract,
                         testing::ValuesIn(machines()),
                         testing::PrintToStringParamName());

class RemoteExecutor : public ExecutorContract {
protected:
    void TearDown() override
    {
        target_.executor.reset();
        site.reset();
        ExecutorContract::TearDown();
    }
    Executor& executor() { return *target_.executor; }
    // Follows through breaks of the connection, as a daemon does.
    JobStatus follow_patiently(const JobSpec& spec, const std::function<void()>& trouble)
    {
        JobStatus status;
        const auto deadline = after(60s);
        while (Deadline::clock::now() < deadline) {
            trouble();
            const auto next =
                executor().sync(spec.id.text(), spec.directory, status, after(1s), {});
            if (!next) {
                EXPECT_EQ(next.error().kind(), ErrorKind::unavailable) << next.error().message();
                std::this_thread::sleep_for(20ms);
                continue;
            }
            status = *next;
            if (status.phase == JobPhase::ended || status.phase == JobPhase::lost) break;
        }
        return status;
    }
};

INSTANTIATE_TEST_SUITE_P(Box,
                         RemoteExecutor,
                         testing::Values(ContractTarget{
                             "remote",
                             [](const Path& root) { return make_remote(root, "remote"); }}),
                         testing::PrintToStringParamName());

TEST_P(RemoteExecutor, TheScriptLivesInTheOtherMachinesEnvironment)
{
    auto spec = job("about");
    spec.variables = {{"SECRET", "s3cr3t"}};
    spec.shared_directory = "~/share/p";
    spec.umask = 027;
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);

    const auto user = (root_ / "machine/user").string();
    EXPECT_EQ(log_of(spec),
              fmt::format("{0} there s3cr3t {0}/share/p/\n{0}/.ponk/runs/{1}/work\n0027\n",
                          user,
                          spec.id.text()));
}

TEST_P(RemoteExecutor, NothingIsSentTwice)
{
    start(job("hello"));
    const auto objects = [] {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 site->project.parent_path() / "machine/user/.ponk/store/objects"))
            count += entry.is_regular_file() ? 1U : 0U;
        return count;
    };
    const auto before = objects();
    start(job("hello"));
    EXPECT_EQ(objects(), before);
    ASSERT_TRUE(os::replace_file(site->project / "more.txt", "more"));
    target_.spec.snapshot = site->take();

    start(job("hello"));

    EXPECT_EQ(objects(), before + 2) << "the new file and the new manifest";
    EXPECT_EQ(site->machine.connections, 1);
}

TEST_P(RemoteExecutor, LogsOutputsAndNamesComeHomeWhole)
{
    const auto spec = job("much");
    start(spec);
    ASSERT_EQ(follow(spec).exit->status(), 0);

    const auto collected = executor().collect(spec.id.text(),
                                              spec.directory,
                                              [](const Path& outputs) -> Result<> {
                                                  std::filesystem::rename(outputs / "s3cret.txt",
                                                                          outputs / "hidden.txt");
                                                  return {};
                                              },
                                              {});

    ASSERT_TRUE(collected) << collected.error().message();
    ASSERT_TRUE(collected->outputs);
    const auto manifest = site->objects.read_manifest(*collected->outputs).value();
    EXPECT_TRUE(manifest.find("hidden.txt"));
    EXPECT_FALSE(manifest.find("s3cret.txt"));
    EXPECT_EQ(manifest.find("link")->target, "deep/model");
    ASSERT_TRUE(snapshot::materialise(site->objects, *collected->outputs, root_ / "got"));
    const auto model = os::read_file(root_ / "got/deep/model").value();
    const auto log = log_of(spec);
    EXPECT_EQ(model.size(), 20'000'000U);
    EXPECT_EQ(log.substr(0, 9'000'000), std::string(9'000'000, 'x'));
    EXPECT_EQ(log.substr(9'000'000), sha256(model).text() + "  -\n");
    EXPECT_FALSE(std::filesystem::exists(spec.directory / "outputs.names"));
}

TEST_P(RemoteExecutor, MetricJournalsGrowHere)
{
    const auto spec = job("journal");
    start(spec);

    const auto status = follow(spec);

    EXPECT_EQ(status.journal_length, 6U);
    EXPECT_EQ(os::read_file(spec.directory / "journal/m-1").value(), "abcdef");
}

TEST_P(RemoteExecutor, ALinkInThePlaceOfTheJournalsBringsNothingHome)
{
    const auto theirs = root_ / "machine/user/ssh";
    ASSERT_TRUE(os::make_directories(theirs));
    ASSERT_TRUE(os::replace_file(theirs / "authorized_keys", "ssh-ed25519 mine"));
    const auto spec = job("steal");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);

    EXPECT_EQ(log_of(spec), "done\n");
    EXPECT_TRUE(os::list_directory(spec.directory / "journal")->empty());
}

TEST_P(RemoteExecutor, ManyOddNamesAmongTheJournalsKeepNobodyFromTheEnd)
{
    const auto spec = job("clutter");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 6);
}

TEST_P(RemoteExecutor, CutsLoseAndDoubleNothing)
{
    const auto spec = job("count");
    start(spec);
    int cuts = 0;
    auto next = after(100ms);

    const auto status = follow_patiently(spec, [&] {
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
    EXPECT_EQ(log_of(spec), expected);
    EXPECT_GT(site->machine.connections, 3);
}

TEST_P(RemoteExecutor, AMachineThatIsAwayIsAnOutageAndNoEnd)
{
    const auto spec = job("wait");
    start(spec);
    follow(spec, JobPhase::running);
    EXPECT_FALSE(executor().outage(spec.directory));
    site->machine.down = true;
    ::kill(site->machine.pid, SIGKILL);

    JobStatus seen{.phase = JobPhase::running};
    const auto status = executor().sync(spec.id.text(), spec.directory, seen, after(2s), {});
    const auto again = executor().sync(spec.id.text(), spec.directory, seen, after(2s), {});

    EXPECT_TRUE(!status || !again);
    const auto outage = executor().outage(spec.directory);
    ASSERT_TRUE(outage);
    EXPECT_GT(outage->since, 0);
    EXPECT_THAT(outage->reason, HasSubstr("no route to the machine"));
    EXPECT_FALSE(executor().cancel(spec.id.text(), spec.directory, 1s)) << "not heard";
    site->machine.down = false;
    const auto deadline = after(30s);
    while (!executor().cancel(spec.id.text(), spec.directory, 1s) &&
           Deadline::clock::now() < deadline)
        std::this_thread::sleep_for(20ms);
    EXPECT_EQ(follow(spec).exit->cause, "cancel");
    EXPECT_FALSE(executor().outage(spec.directory));
}

TEST_P(RemoteExecutor, ARunThatEndedWhileNobodyLookedIsThereLater)
{
    const auto spec = job("output");
    start(spec);
    site->machine.down = true;
    ::kill(site->machine.pid, SIGKILL);
    std::this_thread::sleep_for(300ms);
    site->machine.down = false;
    // Another daemon, which knows the folder only.
    target_.executor =
        remote::make_executor({root_ / "home", "remote", site->objects, site->boxes, {}}).value();

    EXPECT_EQ(follow_patiently(spec, [] {}).exit->status(), 0);

    const auto collected = executor().collect(spec.id.text(), spec.directory, {}, {});
    ASSERT_TRUE(collected) << collected.error().message();
    EXPECT_TRUE(collected->outputs);
}

TEST_P(RemoteExecutor, ARequestToEndThatOvertakesTheLaunchHolds)
{
    const auto spec = job("wait");
    ASSERT_TRUE(executor().place(spec, [](const std::string&) {}, {}));
    ASSERT_TRUE(executor().cancel(spec.id.text(), spec.directory, 1s));

    ASSERT_TRUE(executor().launch(spec, {}));

    EXPECT_EQ(follow(spec).exit->cause, "cancel");
}

TEST_P(RemoteExecutor, NoiseOfALoginShellIsSkipped)
{
    site->machine.before = "echo Welcome; head -c 30000 /dev/urandom; ";
    const auto spec = job("hello");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);
}

TEST_P(RemoteExecutor, AShellThatNeverGetsThereIsQuoted)
{
    site->machine.before = "echo This account is closed; exit 1; ";
    const auto placed = executor().place(job("hello"), [](const std::string&) {}, {});

    ASSERT_FALSE(placed);
    EXPECT_EQ(placed.error().kind(), ErrorKind::unavailable);
    EXPECT_THAT(placed.error().message(), HasSubstr("This account is closed"));
}

TEST_P(RemoteExecutor, CleaningLeavesNothingThere)
{
    const auto spec = job("hello");
    start(spec);
    follow(spec);

    ASSERT_TRUE(executor().clean(spec.id.text(), spec.directory));

    EXPECT_FALSE(std::filesystem::exists(root_ / "machine/user/.ponk/runs" / spec.id.text()));
    EXPECT_EQ(follow(spec).exit->status(), 0) << "our copy stays";
}

TEST_P(RemoteExecutor, WhatWasFetchedIsToldToTheMachine)
{
    for (const char* script : {"hello", "output"}) {
        const auto spec = job(script);
        start(spec);
        ASSERT_EQ(follow(spec).exit->status(), 0);
        const auto note = root_ / "machine/user/.ponk/notes" / spec.id.text() / "collected";
        if (executor().may_have_outputs(spec.directory)) {
            EXPECT_FALSE(is_there(note)) << "its outputs are still there alone";
            ASSERT_TRUE(executor().collect(spec.id.text(), spec.directory, {}, {}));
        }
        EXPECT_TRUE(is_there(note)) << script;
    }
}

TEST_P(RemoteExecutor, AScriptCannotNameOtherOutputsThanItsOwn)
{
    auto spec = job("forge");
    spec.arguments = {target_.spec.snapshot.text()};
    start(spec);
    ASSERT_EQ(follow(spec).exit->status(), 0);

    const auto collected = executor().collect(spec.id.text(), spec.directory, {}, {});

    ASSERT_TRUE(collected) << collected.error().message();
    ASSERT_TRUE(collected->outputs);
    EXPECT_NE(*collected->outputs, target_.spec.snapshot);
}

TEST_P(RemoteExecutor, AFolderThatIsGoneThereIsALostRun)
{
    const auto spec = job("wait");
    start(spec);
    follow(spec, JobPhase::running);
    const auto there = root_ / "machine/user/.ponk/runs" / spec.id.text();
    const auto processes = parse_processes(os::read_file(there / control::pid).value()).value();
    for (const auto* process : {&processes.guard, &processes.stub, &processes.main}) {
        ASSERT_GT(process->pid, 1);
        ::kill(process->pid, SIGKILL);
    }
    while (!os::remove_tree(there))
        std::this_thread::sleep_for(10ms);

    JobStatus seen{.phase = JobPhase::running, .log_length = 6};
    const auto status = executor().sync(spec.id.text(), spec.directory, seen, after(5s), {});

    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(status->phase, JobPhase::lost);
    EXPECT_THAT(status->reason, HasSubstr("'box'"));
}

// As when a disk is not mounted for a while.
TEST_P(RemoteExecutor, AnotherFolderInThePlaceOfTheHomeIsAnOutageAndNoEnd)
{
    for (const bool cut : {true, false}) {
        const auto spec = job("late");
        start(spec);
        follow(spec, JobPhase::running);
        const auto home = root_ / "machine/user/.ponk";
        const auto aside = root_ / "machine/user/aside";
        std::filesystem::rename(home, aside);
        if (cut) ::kill(site->machine.pid, SIGKILL);
        JobStatus seen{.phase = JobPhase::running};
        for (int i = 0; i < 8; ++i) {
            const auto status =
                executor().sync(spec.id.text(), spec.directory, seen, after(100ms), {});
            ASSERT_FALSE(status && status->phase == JobPhase::lost) << status->reason;
            std::this_thread::sleep_for(100ms);
        }
        const auto outage = executor().outage(spec.directory);
        ASSERT_TRUE(outage);
        EXPECT_THAT(outage->reason, HasSubstr("is its disk mounted?"));
        EXPECT_FALSE(executor().cancel(spec.id.text(), spec.directory, 1s)) << "not heard";

        EXPECT_TRUE(os::remove_tree(home));
        std::filesystem::rename(aside, home);

        const auto status = follow_patiently(spec, [] {});
        ASSERT_TRUE(status.exit) << status.reason;
        EXPECT_EQ(status.exit->status(), 4);
        EXPECT_FALSE(executor().outage(spec.directory));
    }
}

TEST_P(RemoteExecutor, FactsComeFromTheOtherMachine)
{
    const auto facts = executor().facts({.box = {.address = "box"}, .ambient = {}}, {});

    ASSERT_TRUE(facts) << facts.error().message();
    EXPECT_EQ((*facts)["facts"].text("home"), (root_ / "machine/user/.ponk").string());
    EXPECT_GT((*facts)["facts"].integer("free_disk"), 0);
}

TEST_P(RemoteExecutor, GpusComeFromTheOtherMachine)
{
    const auto gpus = executor().gpus({.box = {.address = "box"}, .ambient = {}}, {});

    ASSERT_TRUE(gpus) << gpus.error().message();
    EXPECT_TRUE((*gpus)["devices"].is_array());
}

TEST_P(RemoteExecutor, AnObjectDamagedThereIsSentAgain)
{
    start(job("hello"));
    const auto store = root_ / "machine/user/.ponk/store/objects";
    const auto digest =
        site->objects.read_manifest(target_.spec.snapshot)->find("hello.sh")->digest;
    const auto file = store / snapshot::object_name(digest);
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    ASSERT_TRUE(os::replace_file(file, "echo forged"));
    const auto spec = job("hello");

    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);
    EXPECT_EQ(log_of(spec), "hello\n");
}

TEST_P(RemoteExecutor, FilesBesideTheOutputsCanBeBroughtToo)
{
    const auto spec = job("beside");
    start(spec);
    ASSERT_EQ(follow(spec).exit->status(), 0);
    const auto work = executor().fetch_work(spec.id.text(), spec.directory, {});
    ASSERT_TRUE(work) << work.error().message();
    ASSERT_TRUE(*work);
    const auto manifest = site->objects.read_manifest(**work).value();
    ASSERT_NE(manifest.find("made/here.txt"), nullptr);
    EXPECT_EQ(snapshot::read_file(site->objects, manifest, "made/here.txt", 0, 100).value(),
              "new\n");
    ASSERT_TRUE(executor().clean(spec.id.text(), spec.directory));
    const auto gone = executor().fetch_work(spec.id.text(), spec.directory, {});
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind(), ErrorKind::not_found);
}

TEST_P(RemoteExecutor, WhatCarriedABrokenConnectionIsGoneBeforeAnybodyAsksAgain)
{
    const auto spec = job("journal");
    ASSERT_TRUE(executor().place(spec, {}, {}));
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
    const auto spec = job("journal");
    ASSERT_TRUE(executor().place(spec, {}, {}));
    site->boxes = std::make_shared<BoxPool>(
        [](const BoxAddress&, Deadline, const std::stop_token&) -> Result<Stream> {
            return fail(ErrorKind::unavailable, "no way to the machine");
        });
    const auto executor_over = [&](std::shared_ptr<BoxPool> boxes) {
        return remote::make_executor({root_ / "home", "remote", site->objects, boxes, {}}).value();
    };
    EXPECT_EQ(executor_over(site->boxes)->environments({}).value().problems.size(), 1U);
    const auto strange = std::make_shared<BoxPool>(
        [](const BoxAddress&, Deadline, const std::stop_token&) -> Result<Stream> {
            return fail(ErrorKind::conflict, "the host key of 'box' is not known yet");
        });
    EXPECT_TRUE(executor_over(strange)->environments({}).value().problems.empty());
    EXPECT_TRUE(executor_over(site->boxes)->environments({}).value().problems.empty())
        << "nobody asks a machine that was given up";
}

}  // namespace
}  // namespace ponk::target

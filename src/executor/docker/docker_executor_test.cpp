// SPDX-License-Identifier: Apache-2.0
// Needs a container engine: PONK_TEST_DOCKER names its socket, PONK_TEST_IMAGE an image with
// python3 and sh. tests/integration/docker starts one and runs this program.
#include "dockerapi/container.hpp"
#include "doubles/executor_contract.hpp"
#include "executor/docker/container_layout.hpp"
#include "executor/docker/docker_executor.hpp"
#include "executor/run_directory/control_directory.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

namespace ponk::executor {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::pair<const char*, const char*> scripts[] = {
    {"hello.py",
     "import os, sys\nos.write(1, b'hello\\n')\n"
     "for word in sys.argv[1:]: os.write(1, os.fsencode(word) + b'\\n')"},
    {"three.py", "import sys; sys.stdout.write('no newline at the end'); sys.exit(3)"},
    {"wait.py", "import time; print('ready'); time.sleep(100)"},
    {"output.py",
     "import os; os.makedirs('outputs', exist_ok=True); open('outputs/model.txt', "
     "'w').write('weights')"},
    {"about.py",
     "import os; print(os.getcwd(), os.getuid(), os.environ['HOME'], os.getpid() > 1,"
     " os.environ.get('AZUREML_NATIVE_SHARE_DIRECTORY'), os.environ.get('SECRET'),"
     " open('/proc/self/status').read().split('CapEff:')[1].split()[0])"},
    {"vanish.py",
     "import os, time\nfor name in ('pid', 'engine', 'lock'):\n"
     "    try: os.unlink('/.ponk/run/' + name)\n    except OSError: pass\n"
     "print('gone', flush=True); time.sleep(100)"},
    {"fifo.py",
     "import os\nfor name in ('pid', 'engine', 'copied'):\n"
     "    try: os.unlink('/.ponk/run/' + name)\n    except OSError: pass\n"
     "    os.mkfifo('/.ponk/run/' + name)\nprint('put', flush=True); raise SystemExit(5)"},
    {"leave.py",
     "import time; open('model.txt', 'w').write('left'); print('ready', flush=True); "
     "time.sleep(100)"},
    {"eat.py", "print('eating'); x = []\nwhile True: x.append(bytearray(16 << 20))"},
};

std::string setting(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

ExecutorUnderTest make_docker(const Path& root, model::Container::Tree tree)
{
    docker::Options options;
    options.home = root / "home";
    options.trees = script_trees(scripts);
    ExecutorUnderTest target;
    target.executor = docker::make_executor(std::move(options)).value();
    target.job.spec.program.framework = "Python";
    target.job.context.submitter_environment = {"DOCKER_HOST=unix://" + setting("PONK_TEST_DOCKER"),
                                                "HOME=/nowhere"};
    target.job.spec.policy.grace = 1s;
    target.job.spec.runtime.container = model::Container{.image = setting("PONK_TEST_IMAGE")};
    target.job.spec.runtime.container->tree = tree;
    target.script_suffix = ".py";
    return target;
}

INSTANTIATE_TEST_SUITE_P(
    Docker,
    ExecutorContract,
    testing::Values(ContractTarget{"mounted",
                                   [](const Path& root) {
                                       return make_docker(root, model::Container::Tree::mounted);
                                   }},
                    ContractTarget{"copied",
                                   [](const Path& root) {
                                       return make_docker(root, model::Container::Tree::copied);
                                   }}),
    testing::PrintToStringParamName());

// What only this target promises.
class DockerExecutor : public ExecutorContract {
protected:
    dockerapi::Engine engine()
    {
        return dockerapi::Engine::connect(setting("PONK_TEST_DOCKER"), after(10s)).value();
    }
};

INSTANTIATE_TEST_SUITE_P(Docker,
                         DockerExecutor,
                         testing::Values(ContractTarget{
                             "mounted",
                             [](const Path& root) {
                                 return make_docker(root, model::Container::Tree::mounted);
                             }}),
                         testing::PrintToStringParamName());

TEST_P(DockerExecutor, TheScriptFindsItsPlacesAndHasNoPowers)
{
    auto job = make_job("about");
    job.spec.runtime.shared_directory = (root_ / "shared").string();
    job.spec.program.variables = {{"SECRET", "s3cr3t-value"}};
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 0);

    EXPECT_EQ(log_of(job),
              fmt::format("/azureml-run {} /.ponk/run/home True /azureml-share/ s3cr3t-value "
                          "0000000000000000\n",
                          ::getuid()));
    const auto shown =
        engine().json("GET", "/containers/" + job.spec.id.text() + "/json", {}, after(10s));
    ASSERT_TRUE(shown);
    EXPECT_EQ(to_json(*shown).find("s3cr3t-value"), std::string::npos)
        << "everybody who may ask the engine sees this";
    EXPECT_FALSE(std::filesystem::exists(job.context.directory.task() / control::environment));
}

TEST_P(DockerExecutor, AContainerKilledFromOutsideIsLostWithTheEvidence)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);

    ASSERT_TRUE(signal_container(engine(), job.spec.id.text(), "KILL", after(10s)));

    EXPECT_THAT(follow(job, JobPhase::lost).reason, HasSubstr("code 137 without a record"));
}

// As when the engine is killed while it starts the container, and forgets that it did.
TEST_P(DockerExecutor, AClaimWhoseOwnerDiedEarlyIsTakenOver)
{
    const auto job = make_job("hello");
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));
    ASSERT_TRUE(os::make_directories(job.context.directory.task() / control::claim));

    start(job);

    const auto status = follow(job);
    ASSERT_TRUE(status.exit) << status.reason;
    EXPECT_EQ(status.exit->status(), 0);
}

TEST_P(DockerExecutor, AScriptThatTakesItsTracesAwayIsFollowedByTheEngine)
{
    const auto job = make_job("vanish");
    start(job);
    while (log_of(job) != "gone\n")
        std::this_thread::sleep_for(10ms);
    const auto alive =
        target_.executor->sync(job.spec.id.text(), job.context.directory, {}, after(1s), {});
    ASSERT_TRUE(alive) << alive.error().message();
    EXPECT_NE(alive->phase, JobPhase::lost) << alive->reason;

    ASSERT_TRUE(signal_container(engine(), job.spec.id.text(), "KILL", after(10s)));

    EXPECT_THAT(follow(job, JobPhase::lost).reason, HasSubstr("code 137 without a record"));
}

TEST_P(DockerExecutor, AScriptThatTookItsTracesAwayCanBeCancelledAndCleaned)
{
    const auto job = make_job("vanish");
    start(job);
    while (log_of(job) != "gone\n")
        std::this_thread::sleep_for(10ms);

    ASSERT_TRUE(target_.executor->cancel(job.spec.id.text(), job.context.directory, 1s));

    EXPECT_EQ(follow(job).exit->cause, "cancel");
    ASSERT_TRUE(target_.executor->clean(job.spec.id.text(), job.context.directory));
    EXPECT_EQ(find_container(engine(), job.spec.id.text(), after(10s), {}).value(), std::nullopt);
}

TEST_P(DockerExecutor, PipesInThePlaceOfOurFilesStopNobody)
{
    const auto job = make_job("fifo");
    start(job);

    EXPECT_EQ(follow(job).exit->status(), 5);
    EXPECT_TRUE(target_.executor->collect(job.spec.id.text(), job.context.directory, {}, {}));
}

TEST_P(DockerExecutor, AContainerRemovedFromOutsideIsLost)
{
    const auto job = make_job("wait");
    start(job);
    follow(job, JobPhase::running);

    ASSERT_TRUE(remove_container(engine(), job.spec.id.text(), after(10s)));

    EXPECT_THAT(follow(job, JobPhase::lost).reason, HasSubstr("was removed"));
}

TEST_P(DockerExecutor, LackOfMemoryIsRecordedWithEvidence)
{
    auto job = make_job("eat");
    job.spec.runtime.container->arguments = {"--memory=64m", "--memory-swap=64m"};
    start(job);

    const auto status = follow(job);

    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->signal, 9);
    EXPECT_GT(status.exit->oom_kills, 0) << status.exit->oom_evidence;
}

TEST_P(DockerExecutor, MemoryHasALimitBelowTheMachinesThatCanBeChanged)
{
    const auto all = engine().info(after(10s)).value().memory;
    for (const auto& [words, most, least] :
         std::vector<std::tuple<std::vector<std::string>, std::int64_t, std::int64_t>>{
             {{}, all - 1, all / 2},
             {{"--memory=128m"}, 128 << 20, 128 << 20},
             {{"--memory=0"}, 0, 0}}) {
        auto job = make_job("hello");
        job.spec.runtime.container->arguments = words;
        start(job);
        EXPECT_EQ(follow(job).exit->status(), 0);
        const auto shown =
            engine().json("GET", "/containers/" + job.spec.id.text() + "/json", {}, after(10s));
        ASSERT_TRUE(shown);
        const auto seen = (*shown)["HostConfig"].integer("Memory");
        EXPECT_LE(seen, most);
        EXPECT_GE(seen, least);
    }
}

// `sharedVolumes: false`.
class CopiedTrees : public DockerExecutor {
protected:
    // Names in the run directory that a copy of the tree may have.
    static int copies_in(const RunDirectory& directory)
    {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(directory.root()))
            count += entry.path().filename().string().starts_with("tree") ? 1 : 0;
        return count;
    }
    Result<std::optional<Digest>> fetch(const Job& job)
    {
        return target_.executor->working_copies()->fetch(
            job.spec.id.text(), job.context.directory, {});
    }
};

INSTANTIATE_TEST_SUITE_P(Docker,
                         CopiedTrees,
                         testing::Values(ContractTarget{
                             "copied",
                             [](const Path& root) {
                                 return make_docker(root, model::Container::Tree::copied);
                             }}),
                         testing::PrintToStringParamName());

TEST_P(CopiedTrees, FilesOfALostRunAreThereForAnyNumberOfPeople)
{
    const auto job = make_job("leave");
    start(job);
    while (log_of(job) != "ready\n")
        std::this_thread::sleep_for(10ms);
    const auto early = fetch(job);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().kind(), ErrorKind::conflict) << "it is at work there";
    ASSERT_TRUE(signal_container(engine(), job.spec.id.text(), "KILL", after(10s)));
    follow(job, JobPhase::lost);

    std::vector<std::jthread> people;
    for (int i = 0; i < 4; ++i) {
        people.emplace_back([&] {
            const auto tree = fetch(job);
            EXPECT_TRUE(tree) << tree.error().message();
            EXPECT_EQ(tree.value_or(std::nullopt), sha256("left"));
        });
    }
    people.clear();

    EXPECT_EQ(copies_in(job.context.directory), 0);
    ASSERT_TRUE(remove_container(engine(), job.spec.id.text(), after(10s)));
    const auto gone = fetch(job);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind(), ErrorKind::not_found);
    EXPECT_EQ(copies_in(job.context.directory), 0) << "one that failed goes, too";
}

TEST_P(DockerExecutor, AMissingInterpreterIsNamed)
{
    auto job = make_job("hello");
    job.spec.program.interpreter = "/opt/nowhere/python";
    start(job);

    const auto status = follow(job);

    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->cause, "start-failure");
    EXPECT_THAT(status.exit->message, HasSubstr("/opt/nowhere/python"));
}

TEST_P(DockerExecutor, AnImageThatCannotBeHadIsNamed)
{
    auto job = make_job("hello");
    job.spec.runtime.container->image = "localhost:1/nobody/nothing:1";

    const auto staged = target_.executor->stage(job, [](const std::string&) {}, {});

    ASSERT_FALSE(staged);
    EXPECT_THAT(staged.error().message(), HasSubstr("localhost:1/nobody/nothing"));
    EXPECT_TRUE(target_.executor->environments()->wants_login(job, {}));
    job.context.login.username = "ann";
    EXPECT_FALSE(target_.executor->environments()->wants_login(job, {})) << "it had one";
    EXPECT_FALSE(target_.executor->environments()->wants_login(make_job("hello"), {}))
        << "the image is there";
}

TEST_P(DockerExecutor, AContainerThatCannotStartLeavesNoSecretBehind)
{
    auto job = make_job("hello");
    job.spec.program.variables = {{"SECRET", "s3cr3t-value"}};
    job.spec.runtime.container->arguments = {"--device=/dev/nonexistent4"};
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));

    EXPECT_FALSE(target_.executor->launch(job, {}));

    EXPECT_FALSE(is_there(job.context.directory.task() / control::environment));
}

TEST_P(DockerExecutor, ProcessesHaveAGenerousLimitThatCanBeChanged)
{
    for (const auto& [words, limit] :
         std::vector<std::pair<std::vector<std::string>, std::int64_t>>{
             {{}, 16384}, {{"--pids-limit=77"}, 77}, {{"--pids-limit", "-1"}, -1}}) {
        auto job = make_job("hello");
        job.spec.runtime.container->arguments = words;
        start(job);
        EXPECT_EQ(follow(job).exit->status(), 0);
        const auto shown =
            engine().json("GET", "/containers/" + job.spec.id.text() + "/json", {}, after(10s));
        ASSERT_TRUE(shown);
        const auto& seen = (*shown)["HostConfig"]["PidsLimit"];
        EXPECT_EQ(seen.is_null() ? -1 : seen.as_integer(), limit);
    }
}

TEST_P(DockerExecutor, CleaningRemovesTheContainer)
{
    const auto job = make_job("hello");
    const auto handle = start(job);
    follow(job);

    ASSERT_TRUE(target_.executor->clean(handle, job.context.directory));

    EXPECT_EQ(find_container(engine(), job.spec.id.text(), after(10s), {}).value(), std::nullopt);
}

}  // namespace
}  // namespace ponk::executor

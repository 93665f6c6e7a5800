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
     "import os; os.mkdir('outputs'); open('outputs/model.txt', 'w').write('weights')"},
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

ExecutorUnderTest make_docker(const Path& root, ContainerRequest::Tree tree)
{
    docker::Options options;
    options.home = root / "home";
    options.trees = script_trees(scripts);
    ExecutorUnderTest target;
    target.executor = docker::make_executor(std::move(options)).value();
    target.spec.framework = "Python";
    target.spec.submitter_environment = {"DOCKER_HOST=unix://" + setting("PONK_TEST_DOCKER"),
                                         "HOME=/nowhere"};
    target.spec.grace = 1s;
    target.spec.container.image = setting("PONK_TEST_IMAGE");
    target.spec.container.tree = tree;
    target.script_suffix = ".py";
    return target;
}

INSTANTIATE_TEST_SUITE_P(
    Docker,
    ExecutorContract,
    testing::Values(ContractTarget{"mounted",
                                   [](const Path& root) {
                                       return make_docker(root, ContainerRequest::Tree::mounted);
                                   }},
                    ContractTarget{"copied",
                                   [](const Path& root) {
                                       return make_docker(root, ContainerRequest::Tree::copied);
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
                                 return make_docker(root, ContainerRequest::Tree::mounted);
                             }}),
                         testing::PrintToStringParamName());

TEST_P(DockerExecutor, TheScriptFindsItsPlacesAndHasNoPowers)
{
    auto spec = job("about");
    spec.shared_directory = (root_ / "shared").string();
    spec.variables = {{"SECRET", "s3cr3t-value"}};
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 0);

    EXPECT_EQ(log_of(spec),
              fmt::format("/azureml-run {} /.ponk/run/home True /azureml-share/ s3cr3t-value "
                          "0000000000000000\n",
                          ::getuid()));
    const auto shown =
        engine().json("GET", "/containers/" + spec.id.text() + "/json", {}, after(10s));
    ASSERT_TRUE(shown);
    EXPECT_EQ(to_json(*shown).find("s3cr3t-value"), std::string::npos)
        << "everybody who may ask the engine sees this";
    EXPECT_FALSE(std::filesystem::exists(spec.directory / control::environment));
}

TEST_P(DockerExecutor, AContainerKilledFromOutsideIsLostWithTheEvidence)
{
    const auto spec = job("wait");
    start(spec);
    follow(spec, JobPhase::running);

    ASSERT_TRUE(signal_container(engine(), spec.id.text(), "KILL", after(10s)));

    EXPECT_THAT(follow(spec, JobPhase::lost).reason, HasSubstr("code 137 without a record"));
}

TEST_P(DockerExecutor, AScriptThatTakesItsTracesAwayIsFollowedByTheEngine)
{
    const auto spec = job("vanish");
    start(spec);
    while (log_of(spec) != "gone\n")
        std::this_thread::sleep_for(10ms);
    const auto alive = target_.executor->sync(spec.id.text(), spec.directory, {}, after(1s), {});
    ASSERT_TRUE(alive) << alive.error().message();
    EXPECT_NE(alive->phase, JobPhase::lost) << alive->reason;

    ASSERT_TRUE(signal_container(engine(), spec.id.text(), "KILL", after(10s)));

    EXPECT_THAT(follow(spec, JobPhase::lost).reason, HasSubstr("code 137 without a record"));
}

TEST_P(DockerExecutor, AScriptThatTookItsTracesAwayCanBeCancelledAndCleaned)
{
    const auto spec = job("vanish");
    start(spec);
    while (log_of(spec) != "gone\n")
        std::this_thread::sleep_for(10ms);

    ASSERT_TRUE(target_.executor->cancel(spec.id.text(), spec.directory, 1s));

    EXPECT_EQ(follow(spec).exit->cause, "cancel");
    ASSERT_TRUE(target_.executor->clean(spec.id.text(), spec.directory));
    EXPECT_EQ(find_container(engine(), spec.id.text(), after(10s), {}).value(), std::nullopt);
}

TEST_P(DockerExecutor, PipesInThePlaceOfOurFilesStopNobody)
{
    const auto spec = job("fifo");
    start(spec);

    EXPECT_EQ(follow(spec).exit->status(), 5);
    EXPECT_TRUE(target_.executor->collect(spec.id.text(), spec.directory, {}, {}));
}

TEST_P(DockerExecutor, AContainerRemovedFromOutsideIsLost)
{
    const auto spec = job("wait");
    start(spec);
    follow(spec, JobPhase::running);

    ASSERT_TRUE(remove_container(engine(), spec.id.text(), after(10s)));

    EXPECT_THAT(follow(spec, JobPhase::lost).reason, HasSubstr("was removed"));
}

TEST_P(DockerExecutor, LackOfMemoryIsRecordedWithEvidence)
{
    auto spec = job("eat");
    spec.container.arguments = {"--memory=64m", "--memory-swap=64m"};
    start(spec);

    const auto status = follow(spec);

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
        auto spec = job("hello");
        spec.container.arguments = words;
        start(spec);
        EXPECT_EQ(follow(spec).exit->status(), 0);
        const auto shown =
            engine().json("GET", "/containers/" + spec.id.text() + "/json", {}, after(10s));
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
    static int copies_in(const Path& directory)
    {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(directory))
            count += entry.path().filename().string().starts_with("tree") ? 1 : 0;
        return count;
    }
    Result<std::optional<Digest>> fetch(const JobSpec& spec)
    {
        return target_.executor->fetch_work(spec.id.text(), spec.directory, {});
    }
};

INSTANTIATE_TEST_SUITE_P(Docker,
                         CopiedTrees,
                         testing::Values(ContractTarget{
                             "copied",
                             [](const Path& root) {
                                 return make_docker(root, ContainerRequest::Tree::copied);
                             }}),
                         testing::PrintToStringParamName());

TEST_P(CopiedTrees, FilesOfALostRunAreThereForAnyNumberOfPeople)
{
    const auto spec = job("leave");
    start(spec);
    while (log_of(spec) != "ready\n")
        std::this_thread::sleep_for(10ms);
    const auto early = fetch(spec);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().kind(), ErrorKind::conflict) << "it is at work there";
    ASSERT_TRUE(signal_container(engine(), spec.id.text(), "KILL", after(10s)));
    follow(spec, JobPhase::lost);

    std::vector<std::jthread> people;
    for (int i = 0; i < 4; ++i) {
        people.emplace_back([&] {
            const auto tree = fetch(spec);
            EXPECT_TRUE(tree) << tree.error().message();
            EXPECT_EQ(tree.value_or(std::nullopt), sha256("left"));
        });
    }
    people.clear();

    EXPECT_EQ(copies_in(spec.directory), 0);
    ASSERT_TRUE(remove_container(engine(), spec.id.text(), after(10s)));
    const auto gone = fetch(spec);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind(), ErrorKind::not_found);
    EXPECT_EQ(copies_in(spec.directory), 0) << "one that failed goes, too";
}

TEST_P(DockerExecutor, AMissingInterpreterIsNamed)
{
    auto spec = job("hello");
    spec.interpreter = "/opt/nowhere/python";
    start(spec);

    const auto status = follow(spec);

    ASSERT_TRUE(status.exit);
    EXPECT_EQ(status.exit->cause, "start-failure");
    EXPECT_THAT(status.exit->message, HasSubstr("/opt/nowhere/python"));
}

TEST_P(DockerExecutor, AnImageThatCannotBeHadIsNamed)
{
    auto spec = job("hello");
    spec.container.image = "localhost:1/nobody/nothing:1";

    const auto staged = target_.executor->stage(spec, [](const std::string&) {}, {});

    ASSERT_FALSE(staged);
    EXPECT_THAT(staged.error().message(), HasSubstr("localhost:1/nobody/nothing"));
    EXPECT_TRUE(target_.executor->wants_login(spec, {}));
    spec.container.registry_username = "ann";
    EXPECT_FALSE(target_.executor->wants_login(spec, {})) << "it had one";
    EXPECT_FALSE(target_.executor->wants_login(job("hello"), {})) << "the image is there";
}

TEST_P(DockerExecutor, AContainerThatCannotStartLeavesNoSecretBehind)
{
    auto spec = job("hello");
    spec.variables = {{"SECRET", "s3cr3t-value"}};
    spec.container.arguments = {"--device=/dev/nonexistent4"};
    ASSERT_TRUE(target_.executor->stage(spec, [](const std::string&) {}, {}));

    EXPECT_FALSE(target_.executor->launch(spec, {}));

    EXPECT_FALSE(is_there(spec.directory / control::environment));
}

TEST_P(DockerExecutor, ProcessesHaveAGenerousLimitThatCanBeChanged)
{
    for (const auto& [words, limit] :
         std::vector<std::pair<std::vector<std::string>, std::int64_t>>{
             {{}, 16384}, {{"--pids-limit=77"}, 77}, {{"--pids-limit", "-1"}, -1}}) {
        auto spec = job("hello");
        spec.container.arguments = words;
        start(spec);
        EXPECT_EQ(follow(spec).exit->status(), 0);
        const auto shown =
            engine().json("GET", "/containers/" + spec.id.text() + "/json", {}, after(10s));
        ASSERT_TRUE(shown);
        const auto& seen = (*shown)["HostConfig"]["PidsLimit"];
        EXPECT_EQ(seen.is_null() ? -1 : seen.as_integer(), limit);
    }
}

TEST_P(DockerExecutor, CleaningRemovesTheContainer)
{
    const auto spec = job("hello");
    const auto job = start(spec);
    follow(spec);

    ASSERT_TRUE(target_.executor->clean(job, spec.directory));

    EXPECT_EQ(find_container(engine(), spec.id.text(), after(10s), {}).value(), std::nullopt);
}

}  // namespace
}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#include "executor/local/local_test_support.hpp"

#include "executor/local/local_executor.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/supervisor/embedded.hpp"
#include "os/directory.hpp"

#include <csignal>
#include <thread>

namespace ponk::executor {

using namespace std::chrono_literals;

namespace {

constexpr std::pair<const char*, const char*> scripts[] = {
    {"hello.sh", "echo hello; for word; do printf '%s\\n' \"$word\"; done"},
    {"three.sh", "printf 'no newline at the end'; exit 3"},
    {"wait.sh", "echo ready; exec sleep 100"},
    {"output.sh", "mkdir -p outputs; echo weights >outputs/model.txt"},
    {"slow.sh", "echo a; sleep 0.1; echo b; exit 9"},
    {"environment.sh", "env -0"},
    {"folder.sh", "pwd; umask; ls -d \"$AZUREML_NATIVE_SHARE_DIRECTORY\""},
    {"forge.sh",
     "cd \"$PONK_RUN_DIRECTORY\"; while [ ! -e go ]; do sleep 0.01; done; "
     "for f in exit ended pid failed; do printf '%s' \"$1\" >new && mv new $f; done; "
     "echo forged; while [ ! -e end ]; do sleep 0.01; done; exit 4"},
    {"block.sh",
     "cd \"$PONK_RUN_DIRECTORY\"; while [ ! -e go ]; do sleep 0.01; done; "
     "rm -f pid; mkfifo pid; mkdir exit ended; ln -s /etc/passwd failed; "
     "echo blocked; while [ ! -e end ]; do sleep 0.01; done; exit 4"},
    {"events.sh",
     "mkdir -p logs/train; file=$PWD/logs/train/events.out.tfevents.1; cd \"$PONK_RUN_DIRECTORY\"; "
     "cat one >$file; while [ ! -e go ]; do sleep 0.01; done; cat two >>$file; "
     "while [ ! -e end ]; do sleep 0.01; done; cat three >>$file"},
    {"orphan.sh", "setsid sleep 99 & echo $! >../orphan; sleep 0.15; exit 5"},
};

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

}  // namespace

void end_process(pid_t pid)
{
    ASSERT_GT(pid, 1);
    ::kill(pid, SIGKILL);
}

ExecutorUnderTest make_local(const Path& /*root*/)
{
    local::Options options;
    options.home = Home::path;
    options.trees = script_trees(scripts);
    ExecutorUnderTest target;
    target.executor = local::make_executor(std::move(options)).value();
    target.job.spec.program.framework = "Python";
    target.job.spec.program.interpreter = "/bin/sh";
    target.job.context.submitter_environment = {"PATH=/usr/bin:/bin"};
    target.job.spec.policy.grace = 1s;
    target.script_suffix = ".sh";
    return target;
}

RunProcesses LocalExecutor::processes(const Job& job)
{
    const auto deadline = after(10s);
    while (Deadline::clock::now() < deadline) {
        if (const auto text = os::read_file(job.context.directory.task() / control::pid))
            return parse_processes(*text).value();
        std::this_thread::sleep_for(1ms);
    }
    ADD_FAILURE() << "no pid file";
    return {};
}

std::string LocalExecutor::key_of(const Job& job)
{
    return RunKeys::load(Home::path / "run.key").value().of(job.spec.id.text());
}

void LocalExecutor::start_elsewhere(const Job& job)
{
    ASSERT_TRUE(target_.executor->stage(job, [](const std::string&) {}, {}));
    const StubSpec text{.run = job.spec.id.text(),
                        .token = job.context.token,
                        .directory = job.context.directory.work().string(),
                        .program = "/bin/sh",
                        .argv = {"/bin/sh", job.spec.program.script}};
    ASSERT_TRUE(os::replace_file(job.context.directory.task() / "spec", to_text(text)));
    const auto stub = install_stub(Home::path / "lib").value();
    ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    const auto done = os::run({.argv = {"sh",
                                        "-c",
                                        "{ printf '%s\\0' $3; env -i PONK_RUN_TOKEN=$2 "
                                        "PATH=$PATH env -0; } >$1/e; "
                                        "\"$0\" $1 3 4 3<$1/e 4>$1/said &",
                                        stub.string(),
                                        job.context.directory.task().string(),
                                        job.context.token,
                                        key_of(job)}},
                              after(10s),
                              {});
    ASSERT_TRUE(done);
}

}  // namespace ponk::executor

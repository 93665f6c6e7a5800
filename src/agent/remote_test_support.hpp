// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doubles/executor_contract.hpp"
#include "executor/remote/remote_executor.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "snapshot/take_snapshot.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

// Another machine for tests: the real program at the other end of two pipes. With PONK_TEST_DOCKER
// and PONK_TEST_IMAGE set, containers too (tests/integration/host does that).
namespace ponk::executor {
using namespace std::chrono_literals;
using remote::HostPool;
using remote::Stream;
using testing::HasSubstr;

inline constexpr std::pair<const char*, const char*> scripts[] = {
    {"hello.sh", "echo hello; for word; do printf '%s\\n' \"$word\"; done"},
    {"three.sh", "printf 'no newline at the end'; exit 3"},
    {"wait.sh", "echo ready; exec sleep 100"},
    {"output.sh", "mkdir -p outputs; echo weights >outputs/model.txt"},
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
    {"sparse.sh",
     "echo before; truncate -s 20G \"$PONK_RUN_DIRECTORY/log\"; echo after; "
     "truncate -s 20G \"$PONK_RUN_DIRECTORY/journal/j\"; exit 5"},
    {"elsewhere.sh",
     "mkdir \"$PONK_RUN_DIRECTORY/aside\"; mv \"$PWD\" \"$PONK_RUN_DIRECTORY/aside\"; "
     "ln -s \"$HOME/ssh\" \"$PWD\""},
    {"lose.sh", "echo hello; sleep 1; rm \"$PONK_RUN_DIRECTORY/log\"; echo more; exit 3"},
    {"plenty.sh",
     "cd \"$PONK_RUN_DIRECTORY/journal\"; for name in a b c; do truncate -s 5G $name; done"},
    {"late.sh", "echo ready; sleep 3; exit 4"},
    {"forge.sh",
     "echo \"$1\" >\"$PONK_RUN_DIRECTORY/outputs\"; mkdir -p outputs; echo mine "
     ">outputs/model.txt"},
    {"beside.sh", "mkdir made; echo new >made/here.txt"},
    {"journal.sh",
     "printf abc >\"$PONK_RUN_DIRECTORY/journal/m-1\"; sleep 0.1; "
     "printf def >>\"$PONK_RUN_DIRECTORY/journal/m-1\""},
};

// As every program that speaks through pipes: a cut is an error, not a death.
inline const auto ignored = ::signal(SIGPIPE, SIG_IGN);

inline std::string setting(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

// A machine: a folder that stands for its home, and a ponk-agent that is started there.
class OtherHost {
public:
    explicit OtherHost(Path root) : root_(std::move(root))
    {
        EXPECT_TRUE(os::make_directories(root_ / "user"));
    }

    Result<Stream> connect(const HostAddress&, Deadline, const std::stop_token&)
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

    std::string program = PONK_AGENT_PROGRAM;
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
          hosts(std::make_shared<HostPool>(
              [this](const HostAddress& host, Deadline deadline, const std::stop_token& stop) {
                  return machine.connect(host, deadline, stop);
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
    OtherHost machine;
    snapshot::ObjectStore objects;
    std::shared_ptr<HostPool> hosts;
    Path project;
};
inline std::unique_ptr<Site> site;

inline ExecutorUnderTest make_remote(const Path& root, const std::string& type)
{
    site = std::make_unique<Site>(root);
    ExecutorUnderTest target;
    target.executor =
        remote::make_executor({root / "home", type, site->objects, site->hosts, {}}).value();
    target.job.spec.program.framework = "Python";
    target.job.spec.program.interpreter = "/bin/sh";
    target.job.context.submitter_environment = {"PATH=/nowhere"};
    target.job.spec.policy.grace = 1s;
    target.job.spec.location.kind = model::Location::Kind::host;
    target.job.spec.location.host.address = "host";
    target.job.spec.snapshot = site->take();
    target.job.context.source = site->project;
    if (type == "remotedocker")
        target.job.spec.runtime.container = model::Container{.image = setting("PONK_TEST_IMAGE")};
    target.script_suffix = ".sh";
    return target;
}

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
    JobStatus follow_patiently(const Job& job, const std::function<void()>& trouble)
    {
        JobStatus status;
        const auto deadline = after(60s);
        while (Deadline::clock::now() < deadline) {
            trouble();
            const auto next =
                executor().sync(job.spec.id.text(), job.context.directory, status, after(1s), {});
            if (!next) {
                EXPECT_EQ(next.error().kind(), ErrorKind::unreachable) << next.error().message();
                std::this_thread::sleep_for(20ms);
                continue;
            }
            status = *next;
            if (status.phase == JobPhase::ended || status.phase == JobPhase::lost) break;
        }
        return status;
    }
    // The run goes on somewhere where nobody can look now, and nobody says that it ended.
    void expect_outage_of_its_disk(const Job& job)
    {
        JobStatus seen{.phase = JobPhase::running};
        std::string reason;
        for (int i = 0; i < 8; ++i) {
            const auto status =
                executor().sync(job.spec.id.text(), job.context.directory, seen, after(100ms), {});
            ASSERT_FALSE(status && status->phase == JobPhase::lost) << status->reason;
            if (!status) {
                EXPECT_EQ(status.error().kind(), ErrorKind::unreachable);
                reason = status.error().message();
            }
            std::this_thread::sleep_for(100ms);
        }
        EXPECT_NE(reason.find("check that its disk is mounted"), std::string::npos) << reason;
        const auto heard = executor().cancel(job.spec.id.text(), job.context.directory, 1s);
        ASSERT_FALSE(heard);
        EXPECT_EQ(heard.error().kind(), ErrorKind::unreachable) << heard.error().message();
    }
};

}  // namespace ponk::executor

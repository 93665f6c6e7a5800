// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/remote/remote_executor.hpp"
#include "executor/remote/wire/message.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "snapshot/take_snapshot.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

// For tests: a machine that answers what a test wants to hear, and should not have to.
namespace ponk::executor::remote {
using namespace std::chrono_literals;

inline const auto sigpipe_is_ignored = ::signal(SIGPIPE, SIG_IGN);

// Speaks the protocol and says what a test wants it to say.
class HostileHost {
public:
    using Answers = std::function<std::vector<Frame>(const Frame& request)>;
    explicit HostileHost(Answers answers) : answers_(std::move(answers)) {}

    Result<Stream> connect()
    {
        auto in = TRY(os::make_pipe());
        auto out = TRY(os::make_pipe());
        auto serving = std::make_shared<std::jthread>(
            [this, in = std::move(in.read), out = std::move(out.write)](
                const std::stop_token& stop) { serve(in, out, stop); });
        return Stream{std::move(out.read), std::move(in.write), [serving] {}, {}};
    }

private:
    void serve(const os::Fd& in, const os::Fd& out, const std::stop_token& stop)
    {
        const auto say = [&out](const Frame& frame) {
            static_cast<void>(os::write_all(out.get(), encode(frame).value()));
        };
        static_cast<void>(os::write_all(out.get(), greeting));
        say({FrameKind::hello, 0, to_json(Hello{.boot = "b", .home = "/h"}), {}});
        FrameParser parser;
        for (;;) {
            const auto bytes = read_some(in.get(), after(60s), stop);
            if (!bytes || bytes->empty()) return;
            parser.take(*bytes);
            while (const auto frame = parser.next().value()) {
                if (frame->kind != FrameKind::request) continue;
                for (auto answer : answers_(*frame)) {
                    answer.request = frame->request;
                    say(answer);
                }
            }
        }
    }

    Answers answers_;
};

class HostileHosts : public testing::Test {
protected:
    // An executor whose only machine gives these answers.
    std::unique_ptr<Executor> executor(HostileHost::Answers answers)
    {
        host_ = std::make_unique<HostileHost>(std::move(answers));
        const auto hosts = std::make_shared<HostPool>(
            [this](const HostAddress&, Deadline, const std::stop_token&) {
                return host_->connect();
            });
        return make_executor({folder_.path() / "home", "remotedocker", objects_, hosts, {}})
            .value();
    }
    Job make_job()
    {
        EXPECT_TRUE(os::make_directories(folder_.path() / "project"));
        EXPECT_TRUE(os::replace_file(folder_.path() / "project/train.py", "print(1)"));
        snapshot::SnapshotOptions options;
        options.directory = folder_.path() / "project";
        options.git = snapshot::SnapshotOptions::Git::skip;
        Job job;
        job.spec.id = RunId::make();
        job.context.directory = RunDirectory(folder_.path() / "runs" / job.spec.id.text());
        job.context.source = options.directory;
        job.spec.snapshot = snapshot::take_snapshot(objects_, options).value().id;
        job.spec.location = {
            .kind = model::Location::Kind::host, .target = "", .host = {.address = "host"}};
        return job;
    }
    static Frame answer(JsonObject head, std::string payload = {})
    {
        return {FrameKind::answer, 0, std::move(head), std::move(payload)};
    }
    // To a question how the run is: it ended, and this beside.
    static std::vector<Frame> end(const JsonObject& beside)
    {
        model::ExitRecord exit;
        auto head =
            to_json(JobStatus{.phase = JobPhase::ended, .exit = std::move(exit)}).as_object();
        head.set("files", JsonArray());
        for (const auto& [name, value] : beside)
            head.set(name, value);
        return {answer(std::move(head))};
    }

    os::TestFolder folder_;
    snapshot::ObjectStore objects_ = *snapshot::ObjectStore::open(folder_.path() / "store");
    std::unique_ptr<HostileHost> host_;
};

}  // namespace ponk::executor::remote

// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/bring_tree.hpp"

#include "dockerapi/registry.hpp"
#include "executor/remote/host_file.hpp"
#include "executor/remote/input_sender.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "executor/remote/object_peer.hpp"
#include "executor/remote/remote_staging.hpp"
#include "executor/remote/wire/message.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/late_notice.hpp"
#include "os/wait.hpp"

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

using Answer = AgentCalls::Answer;

// An environment may be built for an hour, an image pulled for longer; progress shows it.
constexpr auto stage_patience = 12h;
// How long a transfer waits for a line that broke in the middle of it.
constexpr auto outage_patience = 120s;
constexpr std::size_t most_rounds = 4;
// An input's list, its files, and once more what was damaged on the way.
constexpr std::size_t rounds_per_input = 4;
// How long a machine may be silent before somebody who waits is told.
constexpr auto patient_silence = 3s;

// What the job names, else what the one who submits has here; it is kept nowhere.
Result<Job> with_login(const Job& job, const std::stop_token& stop)
{
    auto sent = job;
    if (!job.spec.runtime.container || !job.context.login.empty()) return sent;
    const auto registry = dockerapi::registry_of(job.spec.runtime.container->image);
    if (const auto login =
            TRY(dockerapi::find_login(registry, job.context.submitter_environment, stop))) {
        sent.context.login = {login->username, login->password, login->identity_token};
    }
    return sent;
}

Result<Answer> bring_through(const Options& options,
                             AgentConnection& connection,
                             const std::string& call,
                             const Job& job,
                             const Progress& progress,
                             const std::stop_token& stop)
{
    TreeSender sender(options.home, options.objects, job);
    auto sent = without_login(job);
    auto rounds = most_rounds + rounds_per_input * job.spec.inputs.size();
    for (std::size_t round = 0; round < rounds; ++round) {
        JsonObject head{{"type", options.type}};
        put_job(head, sent);
        const auto answer =
            TRY(connection
                    .call({.call = call, .head = std::move(head), .progress = progress},
                          after(stage_patience),
                          stop)
                    .map_error([&](const Error& error) {
                        // What is missing is missing there, and whoever reads it is here.
                        return connection.broken() || error.kind() == ErrorKind::cancelled
                                   ? error
                                   : error.within("on '" + name_of(host_of(job)) + "'");
                    }));
        if (answer.head.boolean("login")) {
            const bool tried = !sent.context.login.empty();
            if (!tried) sent = TRY(with_login(job, stop));
            if (tried || sent.context.login.empty())
                return tl::unexpected(parse_error(answer.head["error"]));
            continue;
        }
        if (!answer.head.boolean("incomplete")) {
            sender.remember();
            return answer;
        }
        if (!answer.head.text("input").empty()) {
            TRY(send_input(connection, options.objects, job, answer, progress, stop));
            continue;
        }
        // One answer names so many objects and no more.
        if (round == 0) rounds += TRY(sender.object_count()) / most_digests;
        std::optional<std::vector<Digest>> known;
        if (answer.head.boolean("manifest")) known = TRY(unpack_digests(answer.payload));
        TRY(sender.send(connection, known, progress, stop)
                .map_error(while_doing("send the project")));
    }
    return fail(ErrorKind::unavailable,
                "objects that were sent to the machine were removed there at once");
}

}  // namespace

Job without_login(const Job& job)
{
    auto sent = job;
    sent.context.login = {};
    return sent;
}

Result<AgentCalls::Answer> bring_tree(const Options& options,
                                      const std::string& call,
                                      const Job& job,
                                      const Progress& progress,
                                      const std::stop_token& stop)
{
    TRY(os::make_directories(job.context.directory.task() / control::journal));
    TRY(write_host(job.context.directory, host_of(job)));
    TRY(remember_host(options.home, options.type, host_of(job)));
    bool met = false;
    auto deadline = after(outage_patience);
    for (;;) {
        const auto connection = [&] {
            const os::LateNotice slow(patient_silence, [&] {
                if (progress && !met)
                    progress(fmt::format("'{}' has not answered yet", name_of(host_of(job))));
            });
            return options.hosts->get(
                host_of(job), met ? HostPool::Attempt::when_due : HostPool::Attempt::now, stop);
        }();
        // Whoever was never met may not exist; one that was, if only for a moment, comes back.
        if (!connection && connection.error().kind() == ErrorKind::unreachable) {
            if (progress && !met) progress("the connection was cut; trying again");
            met = true;
        }
        if (!connection && (!met || Deadline::clock::now() >= deadline))
            return tl::unexpected(connection.error());
        if (connection) {
            met = true;
            auto done = bring_through(options, **connection, call, job, progress, stop);
            if (!done && !(*connection)->broken())
                return tl::unexpected(of_machine(done.error(), host_of(job)));
            if (done) return done;
            if (progress) progress("the connection was cut; trying again");
            deadline = after(outage_patience);
        }
        if (!os::sleep_for(200ms, stop)) return fail(ErrorKind::cancelled, "stopped");
    }
}

}  // namespace ponk::executor::remote

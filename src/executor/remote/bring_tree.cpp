// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/bring_tree.hpp"

#include "dockerapi/registry.hpp"
#include "executor/remote/host_file.hpp"
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
// How long a machine may be silent before somebody who waits is told.
constexpr auto patient_silence = 3s;

// What the job names, else what the one who submits has here; it is kept nowhere.
Result<JobSpec> with_login(const JobSpec& spec, const std::stop_token& stop)
{
    auto sent = spec;
    if (spec.container.image.empty() || spec.container.has_login()) return sent;
    const auto registry = dockerapi::registry_of(spec.container.image);
    if (const auto login = TRY(dockerapi::find_login(registry, spec.submitter_environment, stop))) {
        sent.container.registry_username = login->username;
        sent.container.registry_password = login->password;
        sent.container.registry_token = login->identity_token;
    }
    return sent;
}

Result<Answer> bring_through(const Options& options,
                             AgentConnection& connection,
                             const std::string& call,
                             const JobSpec& spec,
                             const Progress& progress,
                             const std::stop_token& stop)
{
    TreeSender sender(options.home, options.objects, spec);
    auto sent = without_login(spec);
    auto rounds = most_rounds;
    for (std::size_t round = 0; round < rounds; ++round) {
        const auto answer =
            TRY(connection
                    .call({.call = call,
                           .head = {{"type", options.type}, {"spec", to_json(sent)}},
                           .progress = progress},
                          after(stage_patience),
                          stop)
                    .map_error([&](const Error& error) {
                        // What is missing is missing there, and whoever reads it is here.
                        return connection.broken() || error.kind() == ErrorKind::cancelled
                                   ? error
                                   : error.within("on '" + name_of(spec.host) + "'");
                    }));
        if (answer.head.boolean("login")) {
            const bool tried = sent.container.has_login();
            if (!tried) sent = TRY(with_login(spec, stop));
            if (tried || !sent.container.has_login())
                return tl::unexpected(parse_error(answer.head["error"]));
            continue;
        }
        if (!answer.head.boolean("incomplete")) {
            sender.remember();
            return answer;
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

JobSpec without_login(const JobSpec& spec)
{
    auto sent = spec;
    sent.container.registry_username.clear();
    sent.container.registry_password.clear();
    sent.container.registry_token.clear();
    return sent;
}

Result<AgentCalls::Answer> bring_tree(const Options& options,
                                      const std::string& call,
                                      const JobSpec& spec,
                                      const Progress& progress,
                                      const std::stop_token& stop)
{
    TRY(os::make_directories(spec.directory / control::journal));
    TRY(write_host(spec.directory, spec.host));
    TRY(remember_host(options.home, options.type, spec.host));
    bool met = false;
    auto deadline = after(outage_patience);
    for (;;) {
        const auto connection = [&] {
            const os::LateNotice slow(patient_silence, [&] {
                if (progress && !met)
                    progress(fmt::format("'{}' has not answered yet", name_of(spec.host)));
            });
            return options.hosts->get(
                spec.host, met ? HostPool::Attempt::when_due : HostPool::Attempt::now, stop);
        }();
        // Whoever was never met may not exist; one that was comes back.
        if (!connection && (!met || Deadline::clock::now() >= deadline))
            return tl::unexpected(connection.error());
        if (connection) {
            met = true;
            auto done = bring_through(options, **connection, call, spec, progress, stop);
            if (!done && !(*connection)->broken())
                return tl::unexpected(of_machine(done.error(), spec.host));
            if (done) return done;
            if (progress) progress("the connection was cut; trying again");
            deadline = after(outage_patience);
        }
        if (!os::sleep_for(200ms, stop)) return fail(ErrorKind::cancelled, "stopped");
    }
}

}  // namespace ponk::executor::remote

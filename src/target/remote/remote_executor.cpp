// SPDX-License-Identifier: Apache-2.0
#include "target/remote/remote_executor.hpp"

#include "base/text.hpp"
#include "dockerapi/registry.hpp"
#include "os/late_notice.hpp"
#include "os/wait.hpp"
#include "snapshot/lease.hpp"
#include "ssh/box_folder.hpp"
#include "target/control_directory.hpp"
#include "target/control_seal.hpp"
#include "target/remote/bounded_progress.hpp"
#include "target/remote/box_file.hpp"
#include "target/remote/homes_there.hpp"
#include "target/remote/message.hpp"
#include "target/remote/object_peer.hpp"
#include "target/remote/output_names.hpp"
#include "target/remote/remote_place.hpp"
#include "target/remote/run_copy.hpp"
#include "target/run_files.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

namespace ponk::target::remote {

using namespace std::chrono_literals;

namespace {

// An answer that needs no work worth the name; what takes longer has its own.
constexpr auto patience = 60s;
// An environment may be built for an hour, an image pulled for longer; progress shows it.
constexpr auto place_patience = 12h;
// How long a transfer waits for a line that broke in the middle of it.
constexpr auto outage_patience = 120s;
// The longest that one question may stay open on the box.
constexpr auto longest_poll = 25s;
constexpr auto pause = 500ms;
constexpr std::size_t most_rounds = 4;
// How long a machine may be silent before somebody who waits is told.
constexpr auto patient_silence = 3s;

// In the run directory: the run ended and wrote no outputs.
constexpr const char* no_outputs = "no-outputs";
// The box has said that it accepted the run.
constexpr const char* launched = "launched";

// Advice about a disk is of use only to who knows whose it is.
Error of_machine(const Error& error, const BoxAddress& box)
{
    for (const int problem : {ENOSPC, EDQUOT, EROFS}) {
        if (error.hint().empty() || error.hint() != system_error(problem, "").hint()) continue;
        return error.within("'" + name_of(box) + "'")
            .with_hint(fmt::format("On '{}': {}", name_of(box), error.hint()));
    }
    return error;
}

class RemoteExecutor final : public Executor {
public:
    RemoteExecutor(Options options, RunKeys keys)
        : options_(std::move(options)), keys_(std::move(keys))
    {
    }

    Result<Placed>
    place(const JobSpec& spec, const Progress& progress, std::stop_token stop) override
    {
        const auto answer = TRY(bring("place", spec, bounded(progress), stop));
        Placed placed{.notices = parse_notices(answer.head["notices"]), .environment = {}};
        if (const auto& used = answer.head["environment"]; used.is_object())
            placed.environment = TRY(parse_environment_used(shown_texts(used)));
        return placed;
    }

    Result<Examination> examine(const JobSpec& spec, std::stop_token stop) override
    {
        const auto answer = TRY(bring("examine", spec, {}, stop));
        return parse_examination(shown_texts(answer.head["examination"]));
    }

    Result<std::string> launch(const JobSpec& spec, std::stop_token stop) override
    {
        const auto connection =
            TRY(options_.boxes->get(spec.box, BoxPool::Attempt::when_due, stop));
        TRY(call(*connection,
                 spec.box,
                 {.call = "launch",
                  .head = {{"type", options_.type}, {"spec", to_json(without_login(spec))}}},
                 after(5min),
                 stop));
        TRY(os::replace_file(
            spec.directory / launched, connection->hello().identity + "\n", 0600, os::Durable::no));
        return spec.id.text();
    }

    Result<JobStatus> sync(const std::string& job,
                           const Path& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        JobStatus ours;
        if (TRY(read_exit(files_of(job, directory), directory, ours))) return ours;
        const auto box = TRY(read_box(directory));
        for (;;) {
            const auto asked = Deadline::clock::now();
            auto status = TRY(sync_once(job, directory, box, seen, deadline, stop));
            if (is_new(status, seen) || Deadline::clock::now() >= deadline) return status;
            // An answer that came at once and said nothing new would come again.
            const bool soon = Deadline::clock::now() - asked < pause;
            if ((soon || status.phase == JobPhase::unknown) && !os::sleep_for(pause, stop))
                return fail(ErrorKind::cancelled, "stopped while waiting");
        }
    }

    Result<>
    cancel(const std::string& job, const Path& directory, std::chrono::seconds grace) override
    {
        JobStatus ours;
        if (!is_there(directory) || TRY(read_exit(files_of(job, directory), directory, ours)))
            return {};
        const auto box = read_box(directory);
        if (!box && box.error().kind() == ErrorKind::not_found) return {};  // no box heard of it
        auto head = about(job);
        head.set("grace", static_cast<std::int64_t>(grace.count()));
        const auto connection = TRY(reach(directory, TRY(box), {}));
        return call(*connection,
                    *box,
                    {.call = "cancel", .head = std::move(head)},
                    after(patience),
                    {})
            .map([](const auto&) {});
    }

    Result<Collected> collect(const std::string& job,
                              const Path& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        if (is_there(directory / no_outputs)) return Collected();
        const auto box = TRY(read_box(directory));
        const auto connection = TRY(reach(directory, box, stop));
        const auto lease = TRY(snapshot::Lease::take(options_.objects.root(), "outputs", stop));
        const auto tell = bounded([this, job](const std::string& line) {
            if (options_.tell) options_.tell(job, line);
        });
        const auto answer = TRY(call(*connection,
                                     box,
                                     {.call = "collect", .head = about(job), .progress = tell},
                                     after(24h),
                                     stop));
        Collected collected;
        collected.notices = parse_notices(answer.head["notices"]);
        Digest id;
        if (parse_digest(answer.head.text("outputs"), id)) {
            TRY(fetch_tree(*connection, options_.objects, id, tell, stop));
            collected.outputs = TRY(renamed(id, directory, before));
        }
        tell_fetched(*connection, job, stop);
        return collected;
    }

    Result<std::optional<Digest>>
    fetch_work(const std::string& job, const Path& directory, std::stop_token stop) override
    {
        const auto box = TRY(read_box(directory));
        const auto connection = TRY(options_.boxes->get(box, BoxPool::Attempt::when_due, stop));
        const auto answer =
            TRY(connection->call({.call = "work", .head = about(job)}, after(1h), stop)
                    .map_error([&](const Error& error) {
                        return error.kind() == ErrorKind::not_found
                                   ? error.within("on '" + name_of(box) + "'")
                                   : error;
                    }));
        Digest id;
        if (!parse_digest(answer.head.text("tree"), id))
            return fail(ErrorKind::damaged, "'{}' names no tree", name_of(box));
        TRY(fetch_tree(*connection, options_.objects, id, {}, stop));
        return id;
    }

    [[nodiscard]] bool may_have_outputs(const Path& directory) const override
    {
        return !is_there(directory / no_outputs);
    }

    [[nodiscard]] std::optional<Outage> outage(const Path& directory) const override
    {
        const auto box = read_box(directory);
        if (!box) return std::nullopt;
        if (const auto outage = options_.boxes->outage(*box)) return outage;
        return homes_.outage(directory);
    }

    Result<Json> facts(const FactsWish& wish, std::stop_token stop) override
    {
        const auto connection = TRY(options_.boxes->get(wish.box, BoxPool::Attempt::now, stop));
        return shown_texts(
            TRY(connection->call(
                    {.call = "facts", .head = {{"type", options_.type}}}, after(patience), stop))
                .head);
    }

    Result<Json> gpus(const FactsWish& wish, std::stop_token stop) override
    {
        const auto connection = TRY(options_.boxes->get(wish.box, BoxPool::Attempt::now, stop));
        return TRY(connection->call(
                       {.call = "gpus", .head = {{"type", options_.type}}}, after(patience), stop))
            .head;
    }

    Result<EnvironmentList> environments(std::stop_token stop) override
    {
        EnvironmentList all;
        for (const auto& box : known_boxes(options_.home, options_.type)) {
            const auto answer = ask(box, about_environments("environments"), after(patience), stop);
            auto list = answer ? parse_environment_list(shown_texts(answer->head["environments"]))
                               : Result<EnvironmentList>(tl::unexpected(answer.error()));
            if (!list) {
                if (!was_given_up(box, list.error())) all.problems.push_back(told(list.error()));
                continue;
            }
            for (auto& entry : list->entries) {
                entry.machine = name_of(box);
                all.entries.push_back(std::move(entry));
            }
            all.problems.insert(all.problems.end(), list->problems.begin(), list->problems.end());
        }
        return all;
    }

    Result<std::string> environment_lock(const std::string& machine,
                                         const std::string& id,
                                         std::stop_token stop) override
    {
        auto request = about_environments("environment-lock");
        request.head.set("id", id);
        return TRY(ask(TRY(box_named(machine)), std::move(request), after(patience), stop))
            .head.text("lock");
    }

    Result<> remove_environment(const std::string& machine,
                                const std::string& id,
                                std::stop_token stop) override
    {
        auto request = about_environments("remove-environment");
        request.head.set("id", id);
        TRY(ask(TRY(box_named(machine)), std::move(request), after(5min), stop));
        return {};
    }

    Result<EnvironmentGarbage> collect_environment_garbage(const EnvironmentRules& rules,
                                                           std::stop_token stop) override
    {
        EnvironmentGarbage all;
        for (const auto& box : known_boxes(options_.home, options_.type)) {
            auto request = about_environments("collect-environments");
            request.head.set("rules", to_json(rules));
            const auto answer = ask(box, std::move(request), after(10min), stop);
            auto garbage = answer ? parse_environment_garbage(shown_texts(answer->head["garbage"]))
                                  : Result<EnvironmentGarbage>(tl::unexpected(answer.error()));
            if (!garbage) {
                if (!was_given_up(box, garbage.error()))
                    all.problems.push_back(told(garbage.error()));
                continue;
            }
            all.freed += garbage->freed;
            for (auto& entry : garbage->removed) {
                entry.machine = name_of(box);
                all.removed.push_back(std::move(entry));
            }
        }
        return all;
    }

    Result<> clean(const std::string& job, const Path& directory) override
    {
        const auto box = read_box(directory);
        if (!box && box.error().kind() == ErrorKind::not_found) return {};
        TRY(ask(TRY(box), {.call = "clean", .head = about(job)}, after(5min), {})
                .map_error([](const Error& error) {
                    return error.kind() == ErrorKind::unavailable && error.hint().empty()
                               ? error.with_hint("Its files there stay until you clean it again.")
                               : error;
                }));
        return {};
    }

private:
    using Answer = BoxConnection::Answer;

    static std::string told(const Error& error)
    {
        return error.hint().empty() ? error.message()
                                    : fmt::format("{} ({})", error.message(), error.hint());
    }

    // A machine whose host key nobody knows any more was detached: no target leads there, and what
    // it keeps is no affair of ours until one does.
    bool was_given_up(const BoxAddress& box, const Error& error) const
    {
        if (error.kind() != ErrorKind::conflict) return false;
        auto address = ssh::parse_address(box.address, box.user);
        if (!address) return false;
        if (box.port != 0) address->port = box.port;
        const auto settings = ssh::BoxFolder(options_.home, *address).read_settings();
        if (!settings || *settings) return false;
        forget_box(options_.home, options_.type, box);
        return true;
    }

    [[nodiscard]] SealedFiles files_of(const std::string& run, const Path& directory) const
    {
        return {directory, keys_.of(run)};
    }

    // All that the run left is with us: some day the box may forget it. What it does not hear it
    // keeps.
    void
    tell_fetched(BoxConnection& connection, const std::string& job, const std::stop_token& stop)
    {
        static_cast<void>(
            connection.call({.call = "collected", .head = about(job)}, after(patience), stop));
    }

    [[nodiscard]] JsonObject about(const std::string& job) const
    {
        return {{"type", options_.type}, {"run", job}};
    }

    [[nodiscard]] BoxConnection::Request about_environments(std::string call) const
    {
        return {.call = std::move(call), .head = {{"type", options_.type}}};
    }

    Result<BoxAddress> box_named(const std::string& machine) const
    {
        for (auto& box : known_boxes(options_.home, options_.type)) {
            if (name_of(box) == machine) return box;
        }
        return fail(ErrorKind::not_found, "no machine '{}' is known", machine);
    }

    Result<Answer> ask(const BoxAddress& box,
                       BoxConnection::Request request,
                       Deadline deadline,
                       const std::stop_token& stop)
    {
        const auto connection = TRY(options_.boxes->get(box, BoxPool::Attempt::when_due, stop));
        return call(*connection, box, std::move(request), deadline, stop);
    }

    static Result<Answer> call(BoxConnection& connection,
                               const BoxAddress& box,
                               BoxConnection::Request request,
                               Deadline deadline,
                               const std::stop_token& stop)
    {
        return connection.call(std::move(request), deadline, stop)
            .map_error([&](const Error& error) {
                return connection.broken() ? error.within("'" + name_of(box) + "'")
                                           : of_machine(error, box);
            });
    }

    // The connection to the folder that the run was given to; `unavailable` when there is another
    // one in its place.
    Result<std::shared_ptr<BoxConnection>>
    reach(const Path& directory, const BoxAddress& box, const std::stop_token& stop)
    {
        auto connection = TRY(options_.boxes->get(box, BoxPool::Attempt::when_due, stop));
        const auto given = os::read_file(directory / launched, 4096);
        if (!given || trim(*given).empty() || trim(*given) == connection->hello().identity)
            return connection;
        const auto reason =
            fmt::format("'{}': ponk's folder '{}' there is another one than the run was given to: "
                        "is its disk mounted?",
                        name_of(box),
                        printable(connection->hello().home));
        // A ponk-box that is started anew looks again.
        if (homes_.missing(directory, reason)) options_.boxes->drop(box);
        return fail(ErrorKind::unavailable, "{}", reason);
    }

    // A box has its own logins and mostly the image too: it gets ours when it says that it could
    // not do without.
    static JobSpec without_login(const JobSpec& spec)
    {
        auto sent = spec;
        sent.container.registry_username.clear();
        sent.container.registry_password.clear();
        sent.container.registry_token.clear();
        return sent;
    }

    // What the job names, else what the one who submits has here; it is kept nowhere.
    static Result<JobSpec> with_login(const JobSpec& spec, const std::stop_token& stop)
    {
        auto sent = spec;
        if (spec.container.image.empty() || spec.container.has_login()) return sent;
        const auto registry = dockerapi::registry_of(spec.container.image);
        if (const auto login = TRY(dockerapi::find_login(registry, spec.ambient, stop))) {
            sent.container.registry_username = login->username;
            sent.container.registry_password = login->password;
            sent.container.registry_token = login->identity_token;
        }
        return sent;
    }

    // Brings the tree to the box and asks for something that needs it there.
    Result<Answer> bring(const std::string& call,
                         const JobSpec& spec,
                         const Progress& progress,
                         const std::stop_token& stop)
    {
        TRY(os::make_directories(spec.directory / control::journal));
        TRY(write_box(spec.directory, spec.box));
        TRY(remember_box(options_.home, options_.type, spec.box));
        bool met = false;
        auto deadline = after(outage_patience);
        for (;;) {
            const auto connection = [&] {
                const os::LateNotice slow(patient_silence, [&] {
                    if (progress && !met)
                        progress(fmt::format("'{}' has not answered yet", name_of(spec.box)));
                });
                return options_.boxes->get(
                    spec.box, met ? BoxPool::Attempt::when_due : BoxPool::Attempt::now, stop);
            }();
            // Whoever was never met may not exist; one that was comes back.
            if (!connection && (!met || Deadline::clock::now() >= deadline))
                return tl::unexpected(connection.error());
            if (connection) {
                met = true;
                auto done = bring_through(**connection, call, spec, progress, stop);
                if (!done && !(*connection)->broken())
                    return tl::unexpected(of_machine(done.error(), spec.box));
                if (done) return done;
                if (progress) progress("the connection was cut; trying again");
                deadline = after(outage_patience);
            }
            if (!os::sleep_for(200ms, stop)) return fail(ErrorKind::cancelled, "stopped");
        }
    }

    Result<Answer> bring_through(BoxConnection& connection,
                                 const std::string& call,
                                 const JobSpec& spec,
                                 const Progress& progress,
                                 const std::stop_token& stop)
    {
        TreeSender sender(options_.home, options_.objects, spec);
        auto sent = without_login(spec);
        auto rounds = most_rounds;
        for (std::size_t round = 0; round < rounds; ++round) {
            const auto answer =
                TRY(connection
                        .call({.call = call,
                               .head = {{"type", options_.type}, {"spec", to_json(sent)}},
                               .progress = progress},
                              after(place_patience),
                              stop)
                        .map_error([&](const Error& error) {
                            // What is missing is missing there, and whoever reads it is here.
                            return connection.broken() || error.kind() == ErrorKind::cancelled
                                       ? error
                                       : error.within("on '" + name_of(spec.box) + "'");
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
                    "objects that were sent to the machine are gone again at once");
    }

    Result<JobStatus> sync_once(const std::string& job,
                                const Path& directory,
                                const BoxAddress& box,
                                const JobStatus& seen,
                                Deadline deadline,
                                const std::stop_token& stop)
    {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - Deadline::clock::now());
        const auto wait = std::clamp(left, 0ms, std::chrono::milliseconds(longest_poll));
        auto head = about(job);
        head.set("seen", to_json(JobStatus{.phase = seen.phase, .started = seen.started}));
        head.set("files", to_json(growing_files(directory)));
        head.set("wait", static_cast<std::int64_t>(wait.count()));
        const auto connection = TRY(reach(directory, box, stop));
        auto asked = call(*connection,
                          box,
                          {.call = "sync", .head = std::move(head)},
                          after(wait + patience),
                          stop);
        if (!asked && asked.error().kind() == ErrorKind::unavailable && !connection->broken()) {
            // It answers, and cannot say anything about the run.
            const auto reason = fmt::format("'{}': {}", name_of(box), asked.error().message());
            if (homes_.missing(directory, reason)) options_.boxes->drop(box);
        } else if (!connection->broken()) {
            homes_.found(directory);
        }
        if (!asked && asked.error().kind() == ErrorKind::not_found &&
            is_there(directory / launched) && !options_.boxes->outage(box)) {
            JobStatus gone{.phase = JobPhase::lost};
            gone.reason = fmt::format("'{}': the run's folder there is gone", name_of(box));
            read_lengths(directory, gone);
            return gone;
        }
        auto answer = TRY(std::move(asked));
        auto status = TRY(parse_job_status(answer.head));
        Increment increment{.files = TRY(parse_growing_files(answer.head["files"])),
                            .bytes = std::move(answer.payload),
                            .more = answer.head.boolean("more")};
        TRY(apply_increment(directory, increment));
        const bool over = status.phase == JobPhase::ended || status.phase == JobPhase::lost;
        if (over && increment.more) {
            // Nothing ends before all it said is here.
            status.phase = JobPhase::running;
            status.exit.reset();
        } else if (status.phase == JobPhase::ended) {
            TRY(settle_end(job, directory, answer.head, status));
            if (status.exit && is_there(directory / no_outputs)) {
                tell_fetched(*connection, job, stop);
            }
        } else if (status.phase == JobPhase::lost) {
            status.reason = fmt::format("'{}': {}", name_of(box), status.reason);
        }
        read_lengths(directory, status);
        return status;
    }

    Result<>
    settle_end(const std::string& job, const Path& directory, const Json& head, JobStatus& status)
    {
        const auto log = directory / control::log;
        if (TRY(settle_copy(directory, *status.exit)) == LogState::different &&
            !again_.lock()->contains(job)) {
            // Changed behind our back, here or there: once more, from its first byte.
            again_.lock()->insert(job);
            TRY(os::replace_file(log, ""));
            status.phase = JobPhase::running;
            status.exit.reset();
            return {};
        }
        again_.lock()->erase(job);
        if (!is_there(log)) TRY(os::replace_file(log, ""));
        if (!head.boolean("outputs", true)) TRY(os::replace_file(directory / no_outputs, ""));
        return files_of(job, directory).publish(control::exit, model::to_text(*status.exit));
    }

    // The outputs' names may tell what must not be told; the files themselves stay as they are.
    Result<Digest> renamed(const Digest& id, const Path& directory, const BeforeStoring& before)
    {
        if (!before) return id;
        const auto manifest = TRY(options_.objects.read_manifest(id));
        const auto other = TRY(rename_entries(manifest, directory, before));
        if (other.entries() == manifest.entries()) return id;
        return options_.objects.put(other.text());
    }

    Options options_;
    RunKeys keys_;
    HomesThere homes_;
    Synced<std::set<std::string>> again_;  // runs whose log is fetched a second time
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    return std::make_unique<RemoteExecutor>(std::move(options), std::move(keys));
}

}  // namespace ponk::target::remote

// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/remote_executor.hpp"

#include "base/field_json.hpp"
#include "executor/remote/agent_calls.hpp"
#include "executor/remote/bounded_progress.hpp"
#include "executor/remote/bring_tree.hpp"
#include "executor/remote/follow_run.hpp"
#include "executor/remote/host_file.hpp"
#include "executor/remote/remote_environments.hpp"
#include "executor/remote/remote_staging.hpp"
#include "executor/remote/wire/message.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/output_names.hpp"
#include "executor/run_directory/run_files.hpp"
#include "os/wait.hpp"
#include "snapshot/lease.hpp"

#include <algorithm>

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

constexpr auto pause = 500ms;
// Who asked does not wait longer.
constexpr auto answer_patience = 10s;

class RemoteExecutor final : public Executor,
                             public Environments,
                             public Machine,
                             public WorkingCopies {
public:
    RemoteExecutor(Options options, RunKeys keys)
        : options_(std::move(options)), keys_(std::move(keys))
    {
    }

    Result<Staged> stage(const Job& job, const Progress& progress, std::stop_token stop) override
    {
        const auto begin = boot_milliseconds();
        const auto answer = TRY(bring_tree(options_, "stage", job, bounded(progress), stop));
        auto staged = TRY(parse_staged(answer.head));
        // By the other machine's clock, and never more than passed here.
        staged.prepare_ms = std::min(staged.prepare_ms, boot_milliseconds() - begin);
        return staged;
    }

    Result<Examination> examine(const Job& job, std::stop_token stop) override
    {
        const auto answer = TRY(bring_tree(options_, "examine", job, {}, stop));
        return parse_examination(shown_texts(answer.head["examination"]));
    }

    Result<std::string> launch(const Job& job, std::stop_token stop) override
    {
        const auto connection = TRY(calls_.connect(host_of(job), stop));
        auto request = calls_.about("launch");
        put_job(request.head, without_login(job));
        TRY(AgentCalls::ask(*connection, host_of(job), std::move(request), after(5min), stop));
        TRY(os::replace_file(job.context.directory.task() / mark::launched,
                             connection->hello().identity + "\n",
                             0600,
                             os::Durable::no));
        return job.spec.id.text();
    }

    Result<JobStatus> sync(const std::string& handle,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const auto files = files_of(handle, directory);
        if (const auto ours = TRY(read_report(files, directory)); ours.exit)
            return status_of(ours, {});
        for (;;) {
            const auto asked = Deadline::clock::now();
            auto status = TRY(follow_.once(handle, files, directory, seen, deadline, stop));
            if (is_new(status, seen) || Deadline::clock::now() >= deadline) return status;
            // An answer that came at once and said nothing new would come again.
            const bool soon = Deadline::clock::now() - asked < pause;
            if (soon && !os::sleep_for(pause, stop))
                return fail(ErrorKind::cancelled, "stopped while waiting");
        }
    }

    Result<> cancel(const std::string& handle,
                    const RunDirectory& directory,
                    std::chrono::seconds grace) override
    {
        const auto ours = read_report(files_of(handle, directory), directory);
        if (!is_there(directory.root()) || (ours && ours->exit)) return {};
        const auto host = read_host(directory);
        if (!host && host.error().kind() == ErrorKind::not_found) return {};  // no host heard of it
        auto request = calls_.about("cancel", handle);
        request.head.set("grace", static_cast<std::int64_t>(grace.count()));
        const auto connection = TRY(calls_.reach(directory, TRY(host), {}));
        return AgentCalls::ask(*connection, *host, std::move(request), after(usual_patience), {})
            .map([](const auto&) {})
            .map_error([](const Error& error) {
                // Nobody knows whether it was heard.
                return error.kind() == ErrorKind::timeout ? error.of_kind(ErrorKind::unreachable)
                                                          : error;
            });
    }

    Result<> deliver(const std::string& handle,
                     const RunDirectory& directory,
                     const std::string& name,
                     std::string answer) override
    {
        const auto host = TRY(read_host(directory));
        auto request = calls_.about("answer", handle);
        request.head.set("name", name);
        request.payload = std::move(answer);
        const auto connection = TRY(calls_.reach(directory, host, {}));
        return AgentCalls::ask(*connection, host, std::move(request), after(answer_patience), {})
            .map([](const auto&) {});
    }

    Result<Collected> collect(const std::string& handle,
                              const RunDirectory& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        if (is_there(directory.task() / mark::no_outputs)) return Collected();
        const auto host = TRY(read_host(directory));
        const auto connection = TRY(calls_.reach(directory, host, stop));
        const auto lease = TRY(snapshot::Lease::take(options_.objects.root(), "outputs", stop));
        auto request = calls_.about("collect", handle);
        request.progress = bounded([this, handle](const std::string& line) {
            if (options_.tell) options_.tell(handle, line);
        });
        const auto tell = request.progress;
        const auto answer =
            TRY(AgentCalls::ask(*connection, host, std::move(request), after(24h), stop));
        Collected collected;
        collected.notices = parse_notices(answer.head["notices"]);
        Digest id;
        if (parse_digest(answer.head.text("outputs"), id)) {
            TRY(fetch_tree(*connection, options_.objects, id, tell, stop));
            collected.outputs = TRY(renamed(id, directory, before));
        }
        calls_.tell_fetched(*connection, handle, directory, stop);
        return collected;
    }

    Environments* environments() override { return this; }
    Machine* machine() override { return this; }
    WorkingCopies* working_copies() override { return this; }

    Result<std::optional<Digest>>
    fetch(const std::string& handle, const RunDirectory& directory, std::stop_token stop) override
    {
        const auto host = TRY(read_host(directory));
        const auto connection = TRY(calls_.reach(directory, host, stop));
        const auto answer =
            TRY(AgentCalls::ask(*connection, host, calls_.about("work", handle), after(1h), stop)
                    .map_error([&](const Error& error) {
                        return error.kind() == ErrorKind::not_found
                                   ? error.within("on '" + name_of(host) + "'")
                                   : error;
                    }));
        Digest id;
        if (!parse_digest(answer.head.text("tree"), id))
            return fail(ErrorKind::damaged, "'{}' is not a snapshot", name_of(host));
        TRY(fetch_tree(*connection, options_.objects, id, {}, stop));
        return id;
    }

    Result<Rest> finish(const std::string& handle,
                        const RunDirectory& directory,
                        const std::vector<std::string>& keep,
                        std::stop_token stop) override
    {
        const auto host = TRY(read_host(directory));
        const auto connection = TRY(calls_.reach(directory, host, stop));
        const auto lease = TRY(snapshot::Lease::take(options_.objects.root(), "outputs", stop));
        auto request = calls_.about("finish", handle);
        JsonArray lines;
        for (const auto& line : keep)
            lines.push_back(line);
        request.head.set("keep", std::move(lines));
        const auto answer =
            TRY(AgentCalls::ask(*connection, host, std::move(request), after(24h), stop));
        auto rest = TRY(parse_rest(answer.head));
        if (rest.kept) TRY(fetch_tree(*connection, options_.objects, *rest.kept, {}, stop));
        return rest;
    }

    [[nodiscard]] bool may_have_outputs(const RunDirectory& directory) const override
    {
        return !is_there(directory.task() / mark::no_outputs);
    }

    Result<Json> facts(const FactsRequest& request, std::stop_token stop) override
    {
        return about_machine("facts", request, stop);
    }

    Result<Json> gpus(const FactsRequest& request, std::stop_token stop) override
    {
        return about_machine("gpus", request, stop);
    }

    Result<EnvironmentList> list(std::stop_token stop) override { return environments_.list(stop); }

    Result<std::string>
    lock(const std::string& machine, const std::string& id, std::stop_token stop) override
    {
        return environments_.lock(machine, id, stop);
    }

    Result<EnvironmentRemoval>
    remove(const std::string& machine, const std::string& id, std::stop_token stop) override
    {
        return environments_.remove(machine, id, stop);
    }

    Result<EnvironmentGarbage> collect_garbage(const EnvironmentRules& rules,
                                               std::stop_token stop) override
    {
        return environments_.collect_garbage(rules, stop);
    }

    Result<> clean(const std::string& handle, const RunDirectory& directory) override
    {
        const auto host = read_host(directory);
        if (!host && host.error().kind() == ErrorKind::not_found) return {};
        const auto keep = [](const Error& error) {
            return error.kind() == ErrorKind::unreachable && error.hint().empty()
                       ? error.with_hint("Its files there are kept until you run 'ponk "
                                         "experiment clean' again.")
                       : error;
        };
        const auto connection = TRY(calls_.connect(TRY(host), {}).map_error(keep));
        TRY(AgentCalls::ask(*connection, *host, calls_.about("clean", handle), after(5min), {})
                .map_error(keep));
        return {};
    }

private:
    [[nodiscard]] SealedFiles files_of(const std::string& run, const RunDirectory& directory) const
    {
        return {directory.task(), keys_.of(run)};
    }

    // Whoever looks at a machine wants to know now.
    Result<Json>
    about_machine(const std::string& call, const FactsRequest& request, const std::stop_token& stop)
    {
        const auto connection =
            TRY(options_.hosts->get(request.host, HostPool::Attempt::now, stop));
        auto question = calls_.about(call);
        if (request.slurm) question.head.set("slurm", fields_to_json(*request.slurm));
        return shown_texts(
            TRY(connection->call(std::move(question), after(usual_patience), stop)).head);
    }

    // The outputs' names may tell what must not be told; the files themselves stay as they are.
    Result<Digest>
    renamed(const Digest& id, const RunDirectory& directory, const BeforeStoring& before)
    {
        if (!before) return id;
        const auto manifest = TRY(options_.objects.read_manifest(id));
        const auto other = TRY(rename_entries(manifest, directory, before));
        if (other.entries() == manifest.entries()) return id;
        return options_.objects.put(other.text());
    }

    Options options_;
    RunKeys keys_;
    AgentCalls calls_{options_};
    FollowRun follow_{calls_};
    RemoteEnvironments environments_{options_, calls_};
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    return std::make_unique<RemoteExecutor>(std::move(options), std::move(keys));
}

}  // namespace ponk::executor::remote

// SPDX-License-Identifier: Apache-2.0
#include "executor/local/local_executor.hpp"

#include "base/synced.hpp"
#include "base/text.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/events/event_reader.hpp"
#include "executor/facts.hpp"
#include "executor/gpu/gpu_look.hpp"
#include "executor/gpu/monitor.hpp"
#include "executor/local/local_run.hpp"
#include "executor/local/own_python.hpp"
#include "executor/process/process_task.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/run_files.hpp"
#include "executor/run_directory/watcher.hpp"
#include "executor/run_directory/working_copy.hpp"
#include "executor/supervisor/embedded.hpp"
#include "executor/supervisor/stub_start.hpp"
#include "os/directory.hpp"

#include <map>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor::local {

using namespace std::chrono_literals;

namespace {

class LocalExecutor final : public ExecutorWithShelf, public WorkingCopies {
public:
    LocalExecutor(Options options, Installed programs, RunKeys keys)
        : ExecutorWithShelf({options.home, environment::Form::prefix, {}, {}}),
          options_(std::move(options)), programs_(std::move(programs)), keys_(std::move(keys))
    {
    }

    Result<Staged> stage(const Job& job, const Progress& progress, std::stop_token stop) override
    {
        Staged staged;
        staged.notices = TRY(stage_working_copy(options_.trees, job, stop));
        const auto begin = boot_milliseconds();
        if (auto prepared = TRY(environment_of(job, progress, stop))) {
            staged.prepare_ms = boot_milliseconds() - begin;
            staged.environment = describe_use(*prepared);
            for (auto& notice : substitution_notices(*prepared, job))
                staged.notices.push_back(std::move(notice));
            held_.hold(job.spec.id, std::move(*prepared));
        } else {
            staged.environment =
                describe_own_python(options_.home, job, comparisons_, staged.notices, stop);
        }
        return staged;
    }

    Result<Examination> examine(const Job& job, std::stop_token stop) override
    {
        TRY(stage_working_copy(options_.trees, job, stop));
        if (const auto request = TRY(request_of_process(job)))
            return examine_environment(options_.home, job, *request, stop);
        return examine_own_python(job, stop);
    }

    Result<std::string> launch(const Job& job, std::stop_token stop) override
    {
        auto handle = job.spec.id.text();
        if (is_there(job.context.directory.task() / control::claim) &&
            !TRY(withdraw_claim(job.context.directory.task())))
            return handle;
        if (is_monitor_alive(job.context.directory.task())) return handle;
        // The lease goes on with the supervisor and the script.
        auto prepared = held_.take(job.spec.id);
        if (!prepared)
            prepared = TRY(environment_of(
                job, [](const std::string&) {}, stop));
        const auto environment =
            TRY(write_process_task(job, prepared ? &*prepared : nullptr, programs_, keys_, stop));
        if (needs_monitor(job)) {
            TRY(start_beside(job, environment, prepared ? lease_of(*prepared) : -1, stop));
            return handle;
        }
        // A supervisor killed before the script began has done nothing: the next one may try.
        for (int attempt = 0; attempt < 20; ++attempt) {
            const auto said = start_stub({.program = programs_.stub,
                                          .directory = job.context.directory.task(),
                                          .environment = environment,
                                          .lease = prepared ? lease_of(*prepared) : -1},
                                         adopt(),
                                         stop);
            if (said == "started" || said == "claimed") return handle;
            if (said && said->starts_with("error ")) {
                TRY(withdraw_claim(job.context.directory.task()));
                return fail(ErrorKind::unavailable, "supervisor: {}", printable(said->substr(6)));
            }
            // Its file may be damaged.
            const auto repaired = repair_installed(options_.home / "lib");
            if (!said && (!repaired || repaired->empty())) return tl::unexpected(said.error());
            if (!TRY(withdraw_claim(job.context.directory.task()))) return handle;
        }
        return fail(ErrorKind::unavailable,
                    "the supervisor {} is killed repeatedly before it can start the script",
                    os::in_quotes(programs_.stub));
    }

    Result<JobStatus> sync(const std::string& handle,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const auto run = run_in(handle, directory);
        open_up(directory);
        const Watcher::Subscription subscription(watcher_, directory.task());
        for (;;) {
            subscription.bell().silence();
            open_up(directory);
            auto status = TRY(run->look());
            TRY(add_monitor_state(files_of(handle, directory), directory, status));
            // A script can remove its own folder before we have seen who it is.
            if (status.phase == JobPhase::starting && !is_there(directory.task()))
                return fail(
                    ErrorKind::not_found, "{} does not exist", os::in_quotes(directory.root()));
            TRY(events_.follow(directory, status, stop));
            if (status.phase == JobPhase::ended || status.phase == JobPhase::lost)
                forget(directory, *run);
            if (is_new(status, seen) || Deadline::clock::now() >= deadline) return status;
            auto wake = run->next_wake();
            wake.descriptors.push_back(subscription.bell().fd());
            if (status.phase == JobPhase::queued) wake.at = after(1s);  // files tell the rest
            if (status.phase == JobPhase::running)
                wake.at = std::min(wake.at, events_.due(directory));
            if (!subscription.works()) wake.at = std::min(wake.at, after(50ms));
            const auto waited = os::wait_any(wake.descriptors, std::min(deadline, wake.at), stop);
            if (!waited && waited.error().kind() != ErrorKind::timeout)
                return tl::unexpected(waited.error());
        }
    }

    Result<> cancel(const std::string& handle,
                    const RunDirectory& directory,
                    std::chrono::seconds grace) override
    {
        held_.drop(handle);
        open_up(directory);
        // A record that cannot be read says nothing about the processes.
        const auto ended = files_of(handle, directory).find(control::exit);
        if (!is_there(directory.task()) || (ended && *ended)) return {};
        // On a full disk the signal alone must do.
        const auto noted = request_end(directory.task(), grace);
        TRY(run_in(handle, directory)->ask_to_end());
        return noted || is_there(directory.task() / control::pid) ? Result<>() : noted;
    }

    Result<Collected> collect(const std::string& /*job*/,
                              const RunDirectory& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        return collect_outputs(options_.trees, directory, before, stop);
    }

    WorkingCopies* working_copies() override { return this; }

    std::optional<environment::Prepared> take_staged(const RunId& run) override
    {
        return held_.take(run);
    }

    Result<std::optional<Digest>> fetch(const std::string& /*handle*/,
                                        const RunDirectory& /*directory*/,
                                        std::stop_token) override
    {
        return std::nullopt;
    }

    [[nodiscard]] bool may_have_outputs(const RunDirectory& directory) const override
    {
        open_up(directory.work());
        return has_outputs(directory);
    }

    Result<Json> facts(const FactsRequest& request, std::stop_token stop) override
    {
        return machine_facts(options_.home, request.submitter_environment, EngineNeed::none, stop);
    }

    Result<Json> gpus(const FactsRequest& request, std::stop_token stop) override
    {
        return gpus_.look(request.submitter_environment, stop);
    }

    Result<> clean(const std::string& handle, const RunDirectory& directory) override
    {
        held_.drop(handle);
        open_up(directory);
        return clean_run_directory(files_of(handle, directory), directory);
    }

private:
    [[nodiscard]] SealedFiles files_of(const std::string& handle,
                                       const RunDirectory& directory) const
    {
        return {directory.task(), keys_.of(handle)};
    }

    Result<std::optional<environment::Prepared>>
    environment_of(const Job& job, const Progress& progress, const std::stop_token& stop)
    {
        const auto request = TRY(request_of_process(job));
        if (!request) return std::nullopt;
        return TRY(prepare_environment(options_.home, job, *request, progress, stop));
    }

    static int lease_of(const environment::Prepared& prepared)
    {
        return prepared.lease ? prepared.lease->fd() : -1;
    }

    Adopt adopt()
    {
        return [this](os::Fd pidfd) { watcher_.reap_later(std::move(pidfd)); };
    }

    // A run with GPUs is started by its GPU monitor, as soon as it has them.
    Result<> start_beside(const Job& job,
                          const std::string& environment,
                          int lease,
                          const std::stop_token& stop)
    {
        const MonitorJob task{.run = job.spec.id.text(),
                              .script = job.spec.program.script,
                              .request = job.spec.resources.gpu,
                              .lib = options_.home / "lib",
                              .devices_are_chosen = chooses_devices(job),
                              .is_given_devices = false,
                              .stub = programs_.stub,
                              .engine = {},
                              .container = {},
                              .tree_is_copied = false};
        return start_monitor({.job = task,
                              .directory = job.context.directory,
                              .environment = environment,
                              .submitter_environment = job.context.submitter_environment,
                              .lease = lease},
                             adopt(),
                             stop);
    }

    std::shared_ptr<LocalRun> run_in(const std::string& handle, const RunDirectory& directory)
    {
        const auto runs = runs_.lock();
        auto& run = (*runs)[directory.root().string()];
        if (!run) run = std::make_shared<LocalRun>(directory, files_of(handle, directory));
        return run;
    }

    void forget(const RunDirectory& directory, LocalRun& run)
    {
        for (auto& process : run.take_remains())
            watcher_.reap_later(std::move(process));
        runs_.lock()->erase(directory.root().string());
    }

    Options options_;
    Installed programs_;
    RunKeys keys_;
    Watcher watcher_;
    EventReaders events_;
    HeldEnvironments held_;
    LockComparisons comparisons_;
    GpuLook gpus_{options_.home / "lib"};
    // Shared with the threads that are inside sync() for that run.
    Synced<std::map<std::string, std::shared_ptr<LocalRun>>> runs_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    const auto lib = options.home / "lib";
    auto programs = TRY(install_programs(lib));
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    // Scripts whose supervisor is killed become our children, so that their codes reach us.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return std::make_unique<LocalExecutor>(
        std::move(options), std::move(programs), std::move(keys));
}

}  // namespace ponk::executor::local

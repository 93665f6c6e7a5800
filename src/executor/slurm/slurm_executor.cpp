// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_executor.hpp"

#include "base/text.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/events/event_reader.hpp"
#include "executor/gpu/monitor.hpp"
#include "executor/process/process_task.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/watcher.hpp"
#include "executor/slurm/cluster_facts.hpp"
#include "executor/slurm/held_leases.hpp"
#include "executor/slurm/job_script.hpp"
#include "executor/slurm/slurm_run.hpp"
#include "executor/slurm/submit_doubts.hpp"
#include "executor/supervisor/stub_start.hpp"
#include "os/directory.hpp"
#include "os/wait.hpp"

#include <map>
#include <unistd.h>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// A cluster's file system tells nobody of changes by other machines.
constexpr std::chrono::milliseconds look_again = 500ms;
constexpr std::chrono::milliseconds look_seldom = 2s;
constexpr auto a_while = 20s;
constexpr std::chrono::milliseconds late_request = 3s;

// Where a lock lies that is held.
Path file_of(const os::FileLock& lock)
{
    std::error_code problem;
    return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", lock.fd()), problem);
}

// The job renames it to its own number before it reads it.
void remove_environment(const Path& task)
{
    const auto entries = os::list_directory(task);
    if (!entries) return;
    for (const auto& entry : *entries) {
        if (entry.name == control::environment ||
            entry.name.starts_with(std::string(control::environment) + "."))
            ::unlink((task / entry.name).c_str());
    }
}

// The variables of an allocation in which the run is submitted would bind it to that one's places.
Job without_allocation(const Job& given)
{
    auto job = given;
    std::erase_if(job.context.submitter_environment, [](const std::string& word) {
        return belongs_to_allocation(std::string_view(word).substr(0, word.find('=')));
    });
    return job;
}

class SlurmExecutor final : public Executor, public Machine {
public:
    SlurmExecutor(Options options, Installed programs, RunKeys keys)
        : options_(std::move(options)), programs_(std::move(programs)), keys_(std::move(keys)),
          notes_(options_.home)
    {
        // Jobs that an earlier process submitted still need their environments.
        for (const auto& [run, note] : notes_.all()) {
            if (!note.lease.empty()) leases_.take(run, note.lease);
        }
    }

    Result<Staged> stage(const Job& job, const Progress& progress, std::stop_token stop) override
    {
        return options_.here.stage(without_allocation(job), progress, std::move(stop));
    }

    Result<std::string> launch(const Job& given, std::stop_token stop) override
    {
        const auto job = without_allocation(given);
        if (!job.spec.location.slurm)
            return fail(ErrorKind::invalid_argument, "the run is not for a Slurm cluster");
        auto handle = job.spec.id.text();
        const auto task = job.context.directory.task();
        auto note = TRY(notes_.find(handle));
        if (note && !note->job.empty()) return handle;
        if (const auto again = doubts_.find(handle)) return tl::unexpected(*again);
        if (note && TRY(adopt(handle, job, *note, stop))) return handle;
        if (is_there(task / control::claim) && !TRY(withdraw_claim(task))) return handle;
        if (!note)
            note = SlurmNote{.where = TRY(find_slurm(given.context.submitter_environment)),
                             .job = {},
                             .lease = {}};
        auto prepared = TRY(environment_of(job, stop));
        note->lease = prepared && prepared->lease ? file_of(*prepared->lease).native() : "";
        TRY(write_job(job, prepared ? &*prepared : nullptr, note->lease, stop));
        TRY(notes_.write(handle, *note));
        if (prepared && prepared->lease) leases_.hold(handle, std::move(*prepared->lease));
        const SlurmClient slurm(note->where);
        auto number = slurm.submit(job_options(job), task / job_script_file, stop);
        if (!number) return tl::unexpected(not_submitted(job, number.error()));
        note->job = *number;
        if (const auto noted = notes_.write(handle, *note); !noted) {
            static_cast<void>(slurm.cancel(job_name(job.spec.id), {}));
            return tl::unexpected(noted.error());
        }
        runs_.lock()->insert_or_assign(
            handle, make_run(handle, job.context.directory, *note, SlurmRun::Since::launch));
        // A cancel that came meanwhile did not find the job.
        if (is_there(task / control::cancel)) TRY(slurm.cancel(job_name(job.spec.id), stop));
        return handle;
    }

    Result<JobStatus> sync(const std::string& handle,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const Watcher::Subscription subscription(watcher_, directory.task());
        const auto begin = Deadline::clock::now();
        for (;;) {
            subscription.bell().silence();
            open_up(directory);
            const auto run = TRY(run_of(handle, directory));
            auto status = run ? TRY(run->look(stop)) : TRY(not_launched(handle, directory));
            if (const auto note = run ? run->take_news() : std::nullopt)
                static_cast<void>(notes_.write(handle, *note));
            if (status.phase == JobPhase::starting && !is_there(directory.task()))
                return fail(
                    ErrorKind::not_found, "{} does not exist", os::in_quotes(directory.root()));
            TRY(events_.follow(directory, status, stop));
            const bool is_over = status.phase == JobPhase::ended || status.phase == JobPhase::lost;
            if (is_over) {
                // A supervisor that never began has not taken it.
                remove_environment(directory.task());
                runs_.lock()->erase(handle);
                leases_.drop(handle);
            }
            const auto now = Deadline::clock::now();
            if (is_over || is_new(status, seen)) return status;
            if (now >= deadline) {
                if (auto away = run ? run->away() : std::nullopt) return tl::unexpected(*away);
                return status;
            }
            // A run may wait for days.
            const bool waits = now - begin > a_while && status.phase == JobPhase::queued;
            auto again = after(waits ? look_seldom : look_again);
            if (status.phase == JobPhase::running) again = std::min(again, events_.due(directory));
            const int bell[] = {subscription.bell().fd()};
            const auto waited = os::wait_any(bell, std::min(deadline, again), stop);
            if (!waited && waited.error().kind() != ErrorKind::timeout)
                return tl::unexpected(waited.error());
        }
    }

    Result<> cancel(const std::string& handle,
                    const RunDirectory& directory,
                    std::chrono::seconds grace) override
    {
        open_up(directory);
        const auto task = directory.task();
        static_cast<void>(os::list_directory(task));  // a shared file system may not know of `pid`
        const auto ended = files_of(handle, directory).find(control::exit);
        if (!is_there(task) || (ended && *ended)) return {};
        const bool again = is_there(task / control::cancel);
        const auto noted = request_end(task, grace);
        const auto note = TRY(notes_.find(handle));
        if (!note) return noted;
        const SlurmClient slurm(note->where);
        const auto name = "ponk-" + handle;
        // One that runs is ended by its supervisor, with its grace; asked again, by Slurm. By name:
        // a job whose number nobody heard is found, too.
        const bool runs = is_there(task / control::pid);
        TRY(runs && !again ? slurm.terminate(name, {}) : slurm.cancel(name, {}));
        if (!is_there(task / control::claim)) remove_environment(task);
        if (const auto run = TRY(run_of(handle, directory))) run->expect_end();
        return noted;
    }

    Result<Collected> collect(const std::string& handle,
                              const RunDirectory& directory,
                              const BeforeStoring& before,
                              std::stop_token stop) override
    {
        return options_.here.collect(handle, directory, before, std::move(stop));
    }

    Result<> clean(const std::string& handle, const RunDirectory& directory) override
    {
        TRY(options_.here.clean(handle, directory));
        runs_.lock()->erase(handle);
        leases_.drop(handle);
        return notes_.remove(handle);
    }

    // Of the login node, and of the cluster behind it.
    Result<Json> facts(const FactsRequest& request, std::stop_token stop) override
    {
        auto answer = TRY(options_.here.machine()->facts(request, stop));
        add_cluster_facts(find_slurm(request.submitter_environment),
                          request.slurm.value_or(model::SlurmSpec()),
                          options_.home,
                          answer,
                          stop);
        return answer;
    }

    Result<Json> gpus(const FactsRequest& request, std::stop_token stop) override
    {
        return options_.here.machine()->gpus(request, std::move(stop));
    }

    Environments* environments() override { return options_.here.environments(); }
    Machine* machine() override { return this; }
    WorkingCopies* working_copies() override { return options_.here.working_copies(); }

private:
    [[nodiscard]] MonitorJob monitor_job(const Job& job) const
    {
        return {.run = job.spec.id.text(),
                .script = job.spec.program.script,
                .request = job.spec.resources.gpu,
                .lib = options_.home / "lib",
                .devices_are_chosen = chooses_devices(job),
                .is_given_devices = true,
                .stub = programs_.stub,
                .engine = {},
                .container = {},
                .tree_is_copied = false};
    }

    [[nodiscard]] SealedFiles files_of(const std::string& handle,
                                       const RunDirectory& directory) const
    {
        return {directory.task(), keys_.of(handle)};
    }

    // What `stage` has made ready, or the same again.
    Result<std::optional<environment::Prepared>> environment_of(const Job& job,
                                                                const std::stop_token& stop)
    {
        if (auto staged = options_.here.environments()->take_staged(job.spec.id)) return staged;
        const auto request = TRY(request_of_process(job));
        if (!request) return std::nullopt;
        return TRY(prepare_environment(
            options_.home, job, *request, [](const std::string&) {}, stop));
    }

    // Everything that the job reads on its node.
    Result<> write_job(const Job& job,
                       const environment::Prepared* prepared,
                       const std::string& lease,
                       const std::stop_token& stop)
    {
        const auto task = job.context.directory.task();
        const auto environment = TRY(write_process_task(job, prepared, programs_, keys_, stop));
        TRY(os::replace_file(task / control::environment, environment));
        JobScript script{.run = job.spec.id.text(),
                         .root = job.context.directory.root(),
                         .task = task,
                         .stub = programs_.stub,
                         .lease = lease,
                         .monitor = {}};
        for (const auto& [name, value] : job.spec.program.variables)
            script.chosen_names.push_back(name);
        if (!job.spec.resources.gpu.empty()) {
            script.monitor = TRY(monitor_program(options_.home));
            script.monitor_environment = monitor_environment(job.context.submitter_environment);
            TRY(os::replace_file(task / control::monitor, to_text(monitor_job(job))));
        }
        return os::replace_file(task / job_script_file, to_text(script));
    }

    // Refused, it was not accepted. Else the next launch asks whether it was, but not at once.
    Error not_submitted(const Job& job, const Error& error)
    {
        const auto handle = job.spec.id.text();
        if (error.kind() == ErrorKind::unavailable) {
            remove_environment(job.context.directory.task());
            static_cast<void>(notes_.remove(handle));
            leases_.drop(handle);
        }
        if (error.kind() == ErrorKind::unreachable) doubts_.add(handle, error);
        return error.with_hint(fmt::format("'ponk computetarget check {}' shows what the cluster "
                                           "has. The target's .compute file says what the job asks "
                                           "for.",
                                           shell_word(job.spec.location.target)));
    }

    // A launch that was killed may have been accepted: the job has the run's name.
    Result<bool>
    adopt(const std::string& handle, const Job& job, SlurmNote& note, const std::stop_token& stop)
    {
        const auto find = [&]() -> Result<std::string> {
            return number_of_best(
                TRY(table_.find(note.where, job_name(job.spec.id), late_request / 2, stop)));
        };
        note.job = TRY(find());
        // A busy controller may not have come to the request yet.
        if (note.job.empty() && os::sleep_for(late_request, stop)) note.job = TRY(find());
        if (note.job.empty()) return false;
        TRY(notes_.write(handle, note));
        return true;
    }

    std::shared_ptr<SlurmRun> make_run(const std::string& handle,
                                       const RunDirectory& directory,
                                       const SlurmNote& note,
                                       SlurmRun::Since since)
    {
        return std::make_shared<SlurmRun>(
            directory, files_of(handle, directory), note, table_, options_.visibility, since);
    }

    // Null: none was submitted.
    Result<std::shared_ptr<SlurmRun>> run_of(const std::string& handle,
                                             const RunDirectory& directory)
    {
        const auto runs = runs_.lock();
        if (const auto found = runs->find(handle); found != runs->end()) return found->second;
        const auto note = TRY(notes_.find(handle));
        if (!note) return nullptr;
        auto run = make_run(handle, directory, *note, SlurmRun::Since::earlier);
        runs->emplace(handle, run);
        return run;
    }

    Result<JobStatus> not_launched(const std::string& handle, const RunDirectory& directory) const
    {
        return status_of(TRY(read_report(files_of(handle, directory), directory)), {});
    }

    Options options_;
    Installed programs_;
    RunKeys keys_;
    SlurmNotes notes_;
    JobTable table_;
    Watcher watcher_;
    EventReaders events_;
    Doubts doubts_;
    HeldLeases leases_;
    Synced<std::map<std::string, std::shared_ptr<SlurmRun>>> runs_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(Options options)
{
    auto programs = TRY(install_programs(options.home / "lib"));
    auto keys = TRY(RunKeys::load(options.home / "run.key"));
    return std::make_unique<SlurmExecutor>(
        std::move(options), std::move(programs), std::move(keys));
}

}  // namespace ponk::executor::slurm

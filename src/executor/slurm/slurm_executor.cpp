// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/slurm_executor.hpp"

#include "base/text.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/events/event_reader.hpp"
#include "executor/process/process_task.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/watcher.hpp"
#include "executor/slurm/cluster_facts.hpp"
#include "executor/slurm/job_script.hpp"
#include "executor/slurm/slurm_run.hpp"
#include "executor/supervisor/stub_start.hpp"
#include "os/wait.hpp"

#include <map>
#include <unistd.h>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// A cluster's file system tells nobody of changes by other machines.
constexpr std::chrono::milliseconds look_again = 500ms;
constexpr std::chrono::milliseconds late_request = 3s;

// Where a lock lies that is held.
Path file_of(const os::FileLock& lock)
{
    std::error_code problem;
    return std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", lock.fd()), problem);
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
        if (note && TRY(adopt(handle, job, *note, stop))) return handle;
        if (is_there(task / control::claim) && !TRY(withdraw_claim(task))) return handle;
        if (!note)
            note = SlurmNote{.where = TRY(find_slurm(given.context.submitter_environment)),
                             .job = {},
                             .gres = job.spec.location.slurm->gres};

        std::optional<environment::Prepared> prepared;
        if (const auto request = TRY(request_of_process(job)))
            prepared = TRY(prepare_environment(
                options_.home, job, *request, [](const std::string&) {}, stop));
        const auto environment =
            TRY(write_process_task(job, prepared ? &*prepared : nullptr, programs_, keys_, stop));
        TRY(os::replace_file(task / control::environment, environment));
        const JobScript script{.run = handle,
                               .task = task,
                               .stub = programs_.stub,
                               .lease = prepared && prepared->lease ? file_of(*prepared->lease)
                                                                    : Path()};
        TRY(os::replace_file(task / job_script_file, to_text(script)));
        TRY(notes_.write(handle, *note));
        auto number =
            SlurmClient(note->where).submit(job_options(job), task / job_script_file, stop);
        if (!number) {
            // Refused, it was not accepted; else the next launch asks whether it was.
            if (number.error().kind() == ErrorKind::unavailable) {
                ::unlink((task / control::environment).c_str());
                static_cast<void>(notes_.remove(handle));
            }
            return tl::unexpected(
                number.error().with_hint(fmt::format("'ponk computetarget check {}' shows what the "
                                                     "cluster has. The target's .compute file "
                                                     "says what the job asks for.",
                                                     shell_word(job.spec.location.target))));
        }
        note->job = *number;
        TRY(notes_.write(handle, *note));
        // A cancel that came meanwhile did not know the job.
        if (is_there(task / control::cancel)) TRY(SlurmClient(note->where).cancel(note->job, stop));
        return handle;
    }

    Result<JobStatus> sync(const std::string& handle,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        const Watcher::Subscription subscription(watcher_, directory.task());
        for (;;) {
            subscription.bell().silence();
            open_up(directory);
            const auto run = TRY(run_of(handle, directory));
            auto status = run ? TRY(run->look(stop)) : TRY(not_submitted(handle, directory));
            if (status.phase == JobPhase::starting && !is_there(directory.task()))
                return fail(
                    ErrorKind::not_found, "{} does not exist", os::in_quotes(directory.root()));
            TRY(events_.follow(directory, status, stop));
            const bool is_over = status.phase == JobPhase::ended || status.phase == JobPhase::lost;
            if (is_over) {
                // A supervisor that never began has not taken it.
                ::unlink((directory.task() / control::environment).c_str());
                runs_.lock()->erase(handle);
            }
            const bool is_due = Deadline::clock::now() >= deadline;
            if (is_over || is_new(status, seen)) return status;
            if (is_due) {
                if (auto away = run ? run->away() : std::nullopt) return tl::unexpected(*away);
                return status;
            }
            auto again = after(look_again);
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
        const auto ended = files_of(handle, directory).find(control::exit);
        if (!is_there(task) || (ended && *ended)) return {};
        const bool again = is_there(task / control::cancel);
        const auto noted = request_end(task, grace);
        const auto note = TRY(notes_.find(handle));
        if (!note || note->job.empty()) return noted;
        const SlurmClient slurm(note->where);
        // One that runs is ended by its supervisor, with its grace; asked again, by Slurm.
        const bool runs = is_there(task / control::pid);
        TRY(runs && !again ? slurm.terminate(note->job, {}) : slurm.cancel(note->job, {}));
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
    [[nodiscard]] SealedFiles files_of(const std::string& handle,
                                       const RunDirectory& directory) const
    {
        return {directory.task(), keys_.of(handle)};
    }

    // A launch that was killed may have been accepted: the job has the run's name.
    Result<bool>
    adopt(const std::string& handle, const Job& job, SlurmNote& note, const std::stop_token& stop)
    {
        const SlurmClient slurm(note.where);
        note.job = number_of_living(TRY(slurm.find_by_name(job_name(job.spec.id), stop)));
        // A busy controller may not have come to the request yet.
        if (note.job.empty() && os::sleep_for(late_request, stop))
            note.job = number_of_living(TRY(slurm.find_by_name(job_name(job.spec.id), stop)));
        if (note.job.empty()) return false;
        TRY(notes_.write(handle, note));
        return true;
    }

    // Null: no job is known.
    Result<std::shared_ptr<SlurmRun>> run_of(const std::string& handle,
                                             const RunDirectory& directory)
    {
        const auto runs = runs_.lock();
        if (const auto found = runs->find(handle); found != runs->end()) return found->second;
        const auto note = TRY(notes_.find(handle));
        if (!note || note->job.empty()) return nullptr;
        auto run = std::make_shared<SlurmRun>(
            directory, files_of(handle, directory), *note, table_, options_.visibility);
        runs->emplace(handle, run);
        return run;
    }

    Result<JobStatus> not_submitted(const std::string& handle, const RunDirectory& directory) const
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

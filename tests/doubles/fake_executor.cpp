// SPDX-License-Identifier: Apache-2.0
#include "doubles/fake_executor.hpp"

#include "base/hash.hpp"
#include "base/synced.hpp"
#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/file.hpp"
#include "os/wait.hpp"

#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <thread>

namespace ponk::executor::fake {

namespace {

using namespace std::chrono_literals;

// One run: a thread, its log and what is known about it. Shared by that thread and the callers.
class Running final : public Process {
public:
    explicit Running(Job job) : job_(std::move(job)) {}

    void write(std::string_view bytes) override
    {
        const std::lock_guard lock(mutex_);
        log_.append(bytes);
        append_to_file(bytes);
        changed_.notify_all();
    }
    [[nodiscard]] const Job& job() const override { return job_; }
    bool asked_to_end(std::chrono::milliseconds span) override
    {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, span, [this] { return !cause_.empty(); });
    }
    void output(const std::string& name, std::string_view bytes) override
    {
        const auto folder = job_.context.directory.outputs();
        if (os::make_directories(folder)) {
            [[maybe_unused]] const auto done = os::replace_file(folder / name, bytes);
        }
        const std::lock_guard lock(mutex_);
        outputs_.update(name);
        outputs_.update(bytes);
        has_outputs_ = true;
    }

    void run(const Script& script)
    {
        {
            const std::lock_guard lock(mutex_);
            status_.phase = JobPhase::running;
            status_.started = wall_milliseconds();
            changed_.notify_all();
        }
        const std::jthread limit([this](const std::stop_token& stop) { keep_time(stop); });
        const int code = script ? script(*this) : 127;
        finish(code, script ? "" : "no such script");
    }

    void ask_to_end(const char* cause)
    {
        const std::lock_guard lock(mutex_);
        if (cause_.empty()) cause_ = cause;
        changed_.notify_all();
    }

    Result<JobStatus> wait(const JobStatus& seen, Deadline deadline, std::stop_token stop)
    {
        std::unique_lock lock(mutex_);
        const auto is_new = [&] {
            return status_.phase != seen.phase || log_.size() != seen.log_length || status_.exit;
        };
        changed_.wait_until(lock, stop, deadline, is_new);
        if (stop.stop_requested() && !is_new())
            return fail(ErrorKind::cancelled, "stopped while waiting");
        auto status = status_;
        status.log_length = log_.size();
        return status;
    }

    std::optional<Digest> outputs()
    {
        const std::lock_guard lock(mutex_);
        if (!has_outputs_) return std::nullopt;
        has_outputs_ = false;
        return outputs_.finish();
    }

private:
    void append_to_file(std::string_view bytes) const
    {
        const auto file = os::open_file(job_.context.directory.task() / control::log,
                                        O_WRONLY | O_CREAT | O_APPEND);
        if (file) {
            [[maybe_unused]] const auto done = os::write_all(file->get(), bytes);
        }
    }

    void keep_time(const std::stop_token& stop)
    {
        if (job_.spec.resources.time_limit.count() > 0 &&
            os::sleep_for(job_.spec.resources.time_limit, stop))
            ask_to_end("time-limit");
    }

    void finish(int code, const char* failure)
    {
        append_to_file({});
        const std::lock_guard lock(mutex_);
        model::ExitRecord record;
        record.code = code;
        record.by = "fake";
        record.cause = *failure != '\0' ? "start-failure" : cause_.empty() ? "script" : cause_;
        record.message = failure;
        record.started = status_.started;
        record.ended = wall_milliseconds();
        record.duration_ms = record.ended - record.started;
        record.log_length = log_.size();
        record.log_sha256 = sha256(log_).text();
        [[maybe_unused]] const auto done =
            os::publish_file(job_.context.directory.task() / control::exit, to_text(record));
        status_.phase = JobPhase::ended;
        status_.exit = record;
        changed_.notify_all();
    }

    const Job job_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::string log_;
    std::string cause_;
    Sha256 outputs_;
    bool has_outputs_ = false;
    JobStatus status_{.phase = JobPhase::starting};
};

class FakeExecutor final : public Executor {
public:
    explicit FakeExecutor(Options options) : options_(std::move(options)) {}
    ~FakeExecutor() override
    {
        const auto jobs = jobs_.lock();
        for (const auto& [id, entry] : *jobs)
            entry.job->ask_to_end("cancel");
    }

    Result<Staged> stage(const Job& job, const Progress& /*progress*/, std::stop_token) override
    {
        TRY(os::make_directories(job.context.directory.task() / control::journal));
        TRY(os::make_directories(job.context.directory.work()));
        return Staged();
    }

    Result<std::string> launch(const Job& job, std::stop_token) override
    {
        // Not the run's id: who uses one for the other is found out.
        const auto handle = "fake-" + job.spec.id.text();
        const auto jobs = jobs_.lock();
        auto& entry = (*jobs)[handle];
        if (entry.job) return handle;
        const auto found = options_.scripts.find(job.spec.program.script);
        if (found == options_.scripts.end()) {
            jobs->erase(handle);
            return fail(ErrorKind::not_found,
                        "script '{}' is not in the project",
                        printable(job.spec.program.script));
        }
        entry.job = std::make_shared<Running>(job);
        entry.thread =
            std::jthread([running = entry.job, script = found->second] { running->run(script); });
        return handle;
    }

    Result<JobStatus> sync(const std::string& handle,
                           const RunDirectory& directory,
                           const JobStatus& seen,
                           Deadline deadline,
                           std::stop_token stop) override
    {
        if (const auto found = find(handle)) return found->wait(seen, deadline, stop);
        return JobStatus{.phase = JobPhase::lost,
                         .reason =
                             fmt::format("nothing runs in {}", os::in_quotes(directory.root()))};
    }

    Result<> cancel(const std::string& handle, const RunDirectory&, std::chrono::seconds) override
    {
        if (const auto found = find(handle)) found->ask_to_end("cancel");
        return {};
    }

    Result<Collected> collect(const std::string& handle,
                              const RunDirectory&,
                              const BeforeStoring&,
                              std::stop_token) override
    {
        const auto found = find(handle);
        return Collected{found ? found->outputs() : std::nullopt, {}};
    }

    Result<> clean(const std::string& /*handle*/, const RunDirectory& directory) override
    {
        return os::remove_tree(directory.work());
    }

private:
    struct Entry {
        std::shared_ptr<Running> job;  // shared by the map and the job's own thread
        std::jthread thread;
    };
    std::shared_ptr<Running> find(const std::string& id)
    {
        const auto jobs = jobs_.lock();
        const auto found = jobs->find(id);
        return found == jobs->end() ? nullptr : found->second.job;
    }

    Options options_;
    Synced<std::map<std::string, Entry>> jobs_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(Options options)
{
    return std::make_unique<FakeExecutor>(std::move(options));
}

}  // namespace ponk::executor::fake

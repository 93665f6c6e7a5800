// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/executor.hpp"
#include "executor/run_directory/run_files.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ponk::engine {

// The fake behind a target that calls jobs by names of its own, lets them wait first and cannot
// always be reached.
class AwkwardTarget final : public executor::Executor {
public:
    explicit AwkwardTarget(std::unique_ptr<Executor> inner) : inner_(std::move(inner)) {}

    Result<executor::Staged> stage(const executor::Job& job,
                                   const executor::Progress& progress,
                                   std::stop_token stop) override
    {
        return inner_->stage(job, progress, stop);
    }
    Result<std::string> launch(const executor::Job& job, std::stop_token stop) override
    {
        return "job-" + TRY(inner_->launch(job, stop));
    }
    Result<executor::JobStatus> sync(const std::string& job,
                                     const executor::RunDirectory& directory,
                                     const executor::JobStatus& seen,
                                     Deadline deadline,
                                     std::stop_token stop) override
    {
        while (!waits) {
            if (is_cut) return fail(ErrorKind::unreachable, "no route to the machine");
            const auto soon = std::min(deadline, after(std::chrono::milliseconds(20)));
            const auto status = inner_->sync(TRY(known(job)), directory, seen, soon, stop);
            if (!status || executor::is_new(*status, seen) || soon == deadline) return status;
        }
        TRY(known(job));
        if (!os::sleep_for(std::chrono::milliseconds(5), stop))
            return fail(ErrorKind::cancelled, "stopped");
        return executor::JobStatus{.phase = executor::JobPhase::queued};
    }
    Result<> cancel(const std::string& job,
                    const executor::RunDirectory& directory,
                    std::chrono::seconds grace) override
    {
        ++cancels;
        if (away)
            return fail(tells ? ErrorKind::unreachable : ErrorKind::timeout,
                        "the engine did not answer");
        return inner_->cancel(TRY(known(job)), directory, grace);
    }
    Result<executor::Collected> collect(const std::string& job,
                                        const executor::RunDirectory& directory,
                                        const executor::BeforeStoring& before,
                                        std::stop_token stop) override
    {
        ++collections;
        while (collects_for_ever) {
            if (!os::sleep_for(std::chrono::milliseconds(5), stop))
                return fail(ErrorKind::cancelled, "stopped");
        }
        return inner_->collect(TRY(known(job)), directory, before, stop);
    }
    Result<> clean(const std::string& job, const executor::RunDirectory& directory) override
    {
        return inner_->clean(TRY(known(job)), directory);
    }

    std::atomic<bool> away{false};
    std::atomic<bool> tells{false};   // that it is away
    std::atomic<bool> is_cut{false};  // sync does not reach it
    std::atomic<bool> waits{false};
    std::atomic<bool> collects_for_ever{false};
    std::atomic<int> cancels{0};
    std::atomic<int> collections{0};  // begun

private:
    static Result<std::string> known(const std::string& job)
    {
        if (!job.starts_with("job-")) return fail(ErrorKind::not_found, "no job '{}'", job);
        return job.substr(4);
    }

    std::unique_ptr<Executor> inner_;
};

}  // namespace ponk::engine

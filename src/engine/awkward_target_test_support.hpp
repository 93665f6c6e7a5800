// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/wait.hpp"
#include "target/executor.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ponk::engine {

// The fake behind a target that calls jobs by names of its own, lets them wait first and cannot
// always be reached.
class AwkwardTarget final : public target::Executor {
public:
    explicit AwkwardTarget(std::unique_ptr<Executor> inner) : inner_(std::move(inner)) {}

    Result<target::Placed> place(const target::JobSpec& spec,
                                 const target::Progress& progress,
                                 std::stop_token stop) override
    {
        return inner_->place(spec, progress, stop);
    }
    Result<target::Examination> examine(const target::JobSpec& spec, std::stop_token stop) override
    {
        return inner_->examine(spec, stop);
    }
    Result<std::string> launch(const target::JobSpec& spec, std::stop_token stop) override
    {
        return "job-" + TRY(inner_->launch(spec, stop));
    }
    Result<target::JobStatus> sync(const std::string& job,
                                   const target::Path& directory,
                                   const target::JobStatus& seen,
                                   Deadline deadline,
                                   std::stop_token stop) override
    {
        if (!waits) return inner_->sync(TRY(known(job)), directory, seen, deadline, stop);
        TRY(known(job));
        if (!os::sleep_for(std::chrono::milliseconds(5), stop))
            return fail(ErrorKind::cancelled, "stopped");
        return target::JobStatus{.phase = target::JobPhase::queued};
    }
    Result<> cancel(const std::string& job,
                    const target::Path& directory,
                    std::chrono::seconds grace) override
    {
        ++cancels;
        if (away) return fail(ErrorKind::timeout, "the engine did not answer");
        return inner_->cancel(TRY(known(job)), directory, grace);
    }
    std::optional<target::Outage> outage(const target::Path&) const override
    {
        if (!tells || !away || cancels == 0) return std::nullopt;
        return target::Outage{.since = 1, .reason = "the engine did not answer"};
    }
    Result<target::Collected> collect(const std::string& job,
                                      const target::Path& directory,
                                      const target::BeforeStoring& before,
                                      std::stop_token stop) override
    {
        return inner_->collect(TRY(known(job)), directory, before, stop);
    }
    Result<> clean(const std::string& job, const target::Path& directory) override
    {
        return inner_->clean(TRY(known(job)), directory);
    }

    std::atomic<bool> away{false};
    std::atomic<bool> tells{false};  // that it is away
    std::atomic<bool> waits{false};
    std::atomic<int> cancels{0};

private:
    static Result<std::string> known(const std::string& job)
    {
        if (!job.starts_with("job-")) return fail(ErrorKind::not_found, "no job '{}'", job);
        return job.substr(4);
    }

    std::unique_ptr<Executor> inner_;
};

}  // namespace ponk::engine

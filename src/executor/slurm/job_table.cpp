// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/job_table.hpp"

namespace ponk::executor::slurm {

Result<JobTable::Answer> JobTable::find(const Installation& where,
                                        const std::string& job,
                                        std::chrono::milliseconds oldest,
                                        const std::stop_token& stop)
{
    const auto cluster = [&] {
        const auto clusters = clusters_.lock();
        auto& found = (*clusters)[where];
        if (!found) found = std::make_shared<Cluster>();
        return found;
    }();
    const auto begin = Deadline::clock::now();
    const std::lock_guard lock(cluster->mutex);
    // Asked meanwhile by another thread is as good as asked by us.
    if (cluster->asked == Deadline{} || cluster->asked + oldest < begin) {
        auto jobs = SlurmClient(where).list(stop);
        if (!jobs && jobs.error().kind() == ErrorKind::cancelled)
            return tl::unexpected(jobs.error());
        cluster->asked = Deadline::clock::now();
        cluster->failed = jobs ? std::nullopt : std::optional(jobs.error());
        if (jobs) cluster->jobs = std::move(*jobs);
    }
    if (cluster->failed) return tl::unexpected(*cluster->failed);
    const auto found = cluster->jobs.find(job);
    return Answer{found == cluster->jobs.end() ? std::nullopt : std::optional(found->second),
                  cluster->asked};
}

}  // namespace ponk::executor::slurm

// SPDX-License-Identifier: Apache-2.0
#include "executor/slurm/job_table.hpp"

#include <algorithm>

namespace ponk::executor::slurm {

using namespace std::chrono_literals;

namespace {

// One that is away is asked by every user of the cluster.
std::chrono::milliseconds pause_after(int failures)
{
    if (failures == 0) return 0ms;
    return std::min<std::chrono::milliseconds>(30s, 5s * failures);
}

}  // namespace

void JobTable::ask(Cluster& cluster,
                   std::unique_lock<std::mutex>& lock,
                   const Installation& where,
                   const std::stop_token& stop)
{
    cluster.is_asked = true;
    lock.unlock();
    auto jobs = SlurmClient(where).list(stop);
    lock.lock();
    cluster.is_asked = false;
    cluster.answered.notify_all();
    if (!jobs && jobs.error().kind() == ErrorKind::cancelled) return;
    cluster.asked = Deadline::clock::now();
    cluster.failures = jobs ? 0 : cluster.failures + 1;
    cluster.failed = jobs ? std::nullopt : std::optional(jobs.error());
    if (jobs) cluster.jobs = std::move(*jobs);
}

Result<SlurmJobs> JobTable::find(const Installation& where,
                                 const std::string& name,
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
    std::unique_lock lock(cluster->mutex);
    // Asked meanwhile by another thread is as good as asked by us.
    while (cluster->asked == Deadline{} ||
           cluster->asked + std::max(oldest, pause_after(cluster->failures)) < begin) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        if (!cluster->is_asked) {
            ask(*cluster, lock, where, stop);
        } else {
            cluster->answered.wait(lock, stop, [&] { return !cluster->is_asked; });
        }
    }
    if (cluster->failed) return tl::unexpected(*cluster->failed);
    SlurmJobs jobs;
    std::ranges::copy_if(cluster->jobs, std::inserter(jobs, jobs.end()), [&](const auto& entry) {
        return entry.second.name == name;
    });
    return jobs;
}

}  // namespace ponk::executor::slurm

// SPDX-License-Identifier: Apache-2.0
#include "db/write_group.hpp"

#include "db/transaction.hpp"

#include <algorithm>
#include <utility>

namespace ponk::db {

namespace {

using Jobs = std::span<WriteJob* const>;

// Those that were refused keep their own reason.
void refuse(Jobs jobs, const Error& error)
{
    for (auto* job : jobs) {
        if (job->outcome) job->outcome = tl::unexpected(error);
    }
}

Durability strictest(Jobs jobs)
{
    const bool disk = std::any_of(jobs.begin(), jobs.end(), [](const WriteJob* job) {
        return job->durability == Durability::disk;
    });
    return disk ? Durability::disk : Durability::process;
}

Result<> run_statement(Connection& writer, std::string_view sql)
{
    auto statement = TRY(writer.prepare(sql));
    return statement.run();
}

Result<> undo_job(Connection& writer)
{
    TRY(run_statement(writer, "ROLLBACK TO job"));
    return run_statement(writer, "RELEASE job");
}

Result<> run_in_savepoint(Connection& writer, const WriteJob& job)
{
    TRY(run_statement(writer, "SAVEPOINT job"));
    auto ran = job.work(writer);
    if (ran) return run_statement(writer, "RELEASE job");
    // Without its savepoint nothing can be told apart any more.
    if (writer.in_transaction() && !undo_job(writer))
        static_cast<void>(run_statement(writer, "ROLLBACK"));
    return ran;
}

// Nothing that is written after such an error is worth anything.
bool is_fatal(const Connection& writer, const Error& error)
{
    return writer.final_failure() || error.kind() == ErrorKind::damaged;
}

// Runs jobs from the first on; returns how many were decided.
Result<std::size_t> run_transaction(Connection& writer, Jobs jobs)
{
    TRY(writer.set_durability(strictest(jobs)));
    auto transaction = TRY(Transaction::begin(writer));
    bool changed = false;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        auto& job = *jobs[i];
        job.outcome = jobs.size() == 1 ? job.work(writer) : run_in_savepoint(writer, job);
        changed = changed || job.outcome;
        if (job.outcome) continue;
        const auto error = job.outcome.error();
        if (is_fatal(writer, error)) return tl::unexpected(error);
        if (writer.in_transaction()) continue;
        refuse(jobs.first(i), error);
        return i + 1;
    }
    if (changed) TRY(transaction.commit());
    return jobs.size();
}

}  // namespace

void run_together(Connection& writer, Jobs jobs)
{
    while (!jobs.empty()) {
        const auto decided = run_transaction(writer, jobs);
        if (!decided) return refuse(jobs, decided.error());
        jobs = jobs.subspan(*decided);
    }
}

WriteGroup::Group WriteGroup::join(Waiting& self)
{
    auto queue = queue_.lock();
    queue->waiting.push_back(&self);
    if (queue->led) {
        self.changed.wait(queue.native(), [&self] { return self.state != Waiting::State::queued; });
        if (self.state == Waiting::State::done) return {};
    }
    queue->led = true;
    return std::exchange(queue->waiting, {});
}

void WriteGroup::leave(const Waiting& self, const Group& group)
{
    // Told with the lock held: who wakes up takes its place in the queue away.
    auto queue = queue_.lock();
    for (auto* each : group) {
        if (each == &self) continue;
        each->state = Waiting::State::done;
        each->changed.notify_one();
    }
    queue->led = !queue->waiting.empty();
    if (!queue->led) return;
    auto* next = queue->waiting.front();
    next->state = Waiting::State::leads;
    next->changed.notify_one();
}

void WriteGroup::submit(WriteJob& job)
{
    Waiting self{&job};
    const auto group = join(self);
    if (group.empty()) return;
    std::vector<WriteJob*> jobs;
    jobs.reserve(group.size());
    for (const auto* each : group)
        jobs.push_back(each->job);
    run_(jobs);
    leave(self, group);
}

}  // namespace ponk::db

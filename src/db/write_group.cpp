// SPDX-License-Identifier: Apache-2.0
#include "db/write_group.hpp"

#include "base/work_budget.hpp"
#include "db/transaction.hpp"

#include <algorithm>
#include <pthread.h>
#include <utility>

namespace ponk::db {

namespace {

using Jobs = std::span<WriteJob* const>;

// How often whoever waits looks whether its request is over.
constexpr std::chrono::milliseconds look_interval{50};

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
        job.outcome =
            jobs.size() == 1 || job.one_change ? job.work(writer) : run_in_savepoint(writer, job);
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

void WriteGroup::finish()
{
    std::thread thread;
    {
        auto queue = queue_.lock();
        queue->ends = true;
        call_.notify_one();
        thread.swap(queue->thread);
    }
    if (thread.joinable()) thread.join();
}

// False when somebody has begun with it.
bool WriteGroup::withdraw(Queue& queue, const Caller* caller)
{
    return std::erase_if(queue.waiting,
                         [caller](const Entry& each) { return each.caller == caller; }) > 0;
}

WriteGroup::Group WriteGroup::join(Entry entry)
{
    auto* const caller = entry.caller;
    auto* const job = entry.job;
    auto queue = queue_.lock();
    queue->waiting.push_back(std::move(entry));
    if (queue->led) {
        const auto is_decided = [caller] { return caller->state != Caller::State::queued; };
        while (!caller->changed.wait_for(queue.native(), look_interval, is_decided)) {
            auto goes_on = check_work();
            if (goes_on || !withdraw(*queue, caller)) continue;
            job->outcome = std::move(goes_on);
            return {};
        }
        if (caller->state == Caller::State::done) return {};
    }
    queue->led = true;
    return std::exchange(queue->waiting, {});
}

// Who leads next: the first that waits, or the thread when nobody waits for the first job.
void WriteGroup::pass_on(Queue& queue)
{
    queue.led = !queue.waiting.empty();
    if (!queue.led) return;
    if (auto* const next = queue.waiting.front().caller) {
        next->state = Caller::State::leads;
        next->changed.notify_one();
    } else {
        queue.called = true;
        call_.notify_one();
    }
}

void WriteGroup::lead(Group group, const Caller* self)
{
    std::vector<WriteJob*> jobs;
    jobs.reserve(group.size());
    for (const auto& each : group)
        jobs.push_back(each.job);
    {
        // Jobs of others must not end with the request of the one who happens to lead.
        const WorkScope nobodys(nullptr);
        run_(jobs);
    }
    {
        // Told with the lock held: who wakes up takes its place in the queue away.
        auto queue = queue_.lock();
        for (const auto& each : group) {
            if (each.caller == nullptr || each.caller == self) continue;
            each.caller->state = Caller::State::done;
            each.caller->changed.notify_one();
        }
        pass_on(*queue);
    }
    for (auto& each : group) {
        if (each.owned) each.owned->done(std::move(each.owned->outcome));
    }
}

void WriteGroup::submit(WriteJob& job)
{
    Caller self;
    auto group = join({&job, &self});
    if (!group.empty()) lead(std::move(group), &self);
}

void WriteGroup::submit_later(std::unique_ptr<WriteJob> job)
{
    auto queue = queue_.lock();
    if (!queue->thread.joinable()) queue->thread = std::thread([this] { serve(); });
    auto* const what = job.get();
    queue->waiting.push_back({what, nullptr, std::move(job)});
    if (!queue->led) pass_on(*queue);
}

void WriteGroup::serve()
{
    ::pthread_setname_np(::pthread_self(), "ponk-writer");
    for (;;) {
        Group group;
        {
            auto queue = queue_.lock();
            call_.wait(queue.native(), [&queue] { return queue->called || queue->ends; });
            if (!queue->called) return;
            queue->called = false;
            group = std::exchange(queue->waiting, {});
        }
        lead(std::move(group), nullptr);
    }
}

}  // namespace ponk::db

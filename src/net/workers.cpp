// SPDX-License-Identifier: Apache-2.0
#include "net/workers.hpp"

#include "base/take.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <pthread.h>

namespace ponk::net {

namespace {

// What a job costs beside its CPU time, so that those that only wait have their turns, too.
constexpr std::int64_t job_cost = 20'000;
// What a job that still runs is taken for.
constexpr std::int64_t running_cost = 5'000'000;
// A client that used this much more CPU time than a core's half gives is a heavy one.
constexpr std::int64_t heavy_load = 200'000'000;
constexpr std::int64_t load_leaks = 2;  // one nanosecond in so many

std::int64_t wall_time()
{
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

std::int64_t load_of(const Account::Turn& turn, std::int64_t now)
{
    return std::max<std::int64_t>(0, turn.load - (now - turn.load_at) / load_leaks);
}

bool is_computing(const Account& client, Reception::Pace pace)
{
    return !client.is_owner() &&
           (pace == Reception::Pace::piece || pace == Reception::Pace::compute);
}

// What the thread that is kept for the owner takes.
bool is_owners_own(const Account& client, Reception::Pace pace)
{
    return client.is_owner() &&
           (pace == Reception::Pace::quick || pace == Reception::Pace::compute);
}

std::size_t processors()
{
    return std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

// Whose jobs of one client take turns.
constexpr Reception::Pace long_paces[] = {
    Reception::Pace::piece, Reception::Pace::compute, Reception::Pace::slow};

std::size_t index(Reception::Pace pace)
{
    return static_cast<std::size_t>(pace);
}

}  // namespace

std::int64_t thread_cpu_time()
{
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

static_assert(std::extent_v<decltype(Account::Turn::jobs)> == Reception::paces);

Workers::Workers(std::size_t count)
    : limits_{count + 1,
              std::max<std::size_t>(1, count / 2),
              std::max<std::size_t>(1, count / 3),
              std::max<std::size_t>(1, count / 3),
              std::max<std::size_t>(1, std::min(count / 3, processors() - 1))},
      compute_limit_(std::max<std::size_t>(1, processors() - 1)),
      client_limit_(count >= 6 ? count * 2 / 3 : count),
      heavy_limit_(
          std::clamp<std::size_t>(processors() / 2, 1, std::max<std::size_t>(1, count / 3)))
{
    threads_.reserve(count + 1);
    for (std::size_t i = 0; i < count; ++i)
        threads_.emplace_back([this] { serve(Kind::ordinary); });
    threads_.emplace_back([this] { serve(Kind::reserved); });
}

void Workers::run(const std::shared_ptr<Account>& client, Pace pace, Job job)
{
    const std::lock_guard lock(mutex_);
    auto& turn = client->turn;
    turn.jobs[index(pace)].push_back(std::move(job));
    if (!turn.queued) {
        turn.queued = true;
        // Who was away has no credit from then.
        turn.spent = std::max(turn.spent, spent_);
        queue_.push_back(client);
    }
    // What may not run yet is taken by the thread whose job's end makes room for it.
    if (!has_room(*client, pace)) return;
    if (idle_ > 0) {
        ordinary_.notify_one();
    } else if (is_owners_own(*client, pace)) {
        reserved_.notify_one();
    }
}

// Who was called may have found its job taken, or what a job's end made room for is another's.
void Workers::wake()
{
    const auto kind = idle_ > 0 ? Kind::ordinary : Kind::reserved;
    const bool useful = std::any_of(queue_.begin(), queue_.end(), [&](const auto& client) {
        return next_of(kind, *client) >= 0;
    });
    if (useful) (kind == Kind::ordinary ? ordinary_ : reserved_).notify_one();
}

void Workers::join()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    ordinary_.notify_all();
    reserved_.notify_all();
    threads_.clear();
}

std::size_t Workers::waiting() const
{
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const auto& client : queue_) {
        for (const auto& jobs : client->turn.jobs)
            count += jobs.size();
    }
    return count;
}

bool Workers::has_room(const Account& client, Pace pace) const
{
    if (client.turn.jobs[index(pace)].empty() || running_[index(pace)] >= limits_[index(pace)])
        return false;
    if (client.is_owner()) return true;
    if (is_computing(client, pace) && computing_ >= compute_limit_) return false;
    const auto limit =
        load_of(client.turn, wall_time()) > heavy_load ? heavy_limit_ : client_limit_;
    return client.turn.running < limit;
}

// The pace of the client's next job that may run now; none: -1.
int Workers::next_of(Kind kind, const Account& client) const
{
    const auto may_run = [&](Pace pace) {
        return (kind == Kind::ordinary || is_owners_own(client, pace)) && has_room(client, pace);
    };
    for (const auto pace : {Pace::quick, Pace::receive}) {
        if (may_run(pace)) return static_cast<int>(pace);
    }
    // A body that is sent has a piece to make at any time: these take turns.
    for (std::size_t i = 1; i <= std::size(long_paces); ++i) {
        const auto pace = long_paces[(client.turn.last_long + i) % std::size(long_paces)];
        if (may_run(pace)) return static_cast<int>(pace);
    }
    return -1;
}

bool Workers::take(Kind kind, Taken& taken)
{
    auto best = queue_.end();
    int best_pace = -1;
    std::int64_t least = 0;
    for (auto each = queue_.begin(); each != queue_.end(); ++each) {
        const int pace = next_of(kind, **each);
        if (pace < 0) continue;
        const auto& turn = (*each)->turn;
        const auto cost = turn.spent + static_cast<std::int64_t>(turn.running) * running_cost;
        // The owner before all others.
        const bool first = is_owners_own(**each, static_cast<Pace>(pace));
        if (best == queue_.end() || first || cost < least) {
            best = each;
            best_pace = pace;
            least = cost;
        }
        if (first) break;
    }
    if (best == queue_.end()) return false;
    taken.client = *best;
    taken.pace = static_cast<Pace>(best_pace);
    auto& turn = taken.client->turn;
    taken.job = take_front(turn.jobs[index(taken.pace)]);
    for (std::size_t i = 0; i < std::size(long_paces); ++i) {
        if (taken.pace == long_paces[i]) turn.last_long = i;
    }
    if (std::all_of(std::begin(turn.jobs), std::end(turn.jobs), [](const auto& jobs) {
            return jobs.empty();
        })) {
        turn.queued = false;
        queue_.erase(best);
    }
    spent_ = std::max(spent_, turn.spent);
    ++turn.running;
    ++running_[index(taken.pace)];
    if (is_computing(*taken.client, taken.pace)) ++computing_;
    return true;
}

void Workers::end(const Taken& taken, std::int64_t cpu)
{
    auto& turn = taken.client->turn;
    --turn.running;
    --running_[index(taken.pace)];
    if (is_computing(*taken.client, taken.pace)) --computing_;
    spend(*taken.client, cpu);
}

void Workers::spend(Account& client, std::int64_t cpu)
{
    auto& turn = client.turn;
    turn.spent += cpu + job_cost;
    const auto now = wall_time();
    turn.load = load_of(turn, now) + cpu;
    turn.load_at = now;
    client.heavy = !client.is_owner() && turn.load > heavy_load;
}

void Workers::charge(Account& client, std::int64_t cpu)
{
    // Not for each of many small calls.
    constexpr std::int64_t worth_a_lock = 1'000'000;
    if (client.uncharged.fetch_add(cpu) + cpu < worth_a_lock) return;
    const auto all = client.uncharged.exchange(0);
    const std::lock_guard lock(mutex_);
    spend(client, all);
}

void Workers::serve(Kind kind)
{
    ::pthread_setname_np(::pthread_self(),
                         kind == Kind::ordinary ? "ponk-worker" : "ponk-reserved");
    auto& call = kind == Kind::ordinary ? ordinary_ : reserved_;
    std::unique_lock lock(mutex_);
    for (;;) {
        Taken taken;
        if (take(kind, taken)) {
            wake();
            lock.unlock();
            const auto before = thread_cpu_time();
            taken.job();
            taken.job = nullptr;
            const auto cpu = thread_cpu_time() - before;
            lock.lock();
            end(taken, cpu);
            continue;
        }
        if (ends_ && queue_.empty()) {
            // Others may wait because of what was in the queue.
            ordinary_.notify_all();
            reserved_.notify_all();
            return;
        }
        if (kind == Kind::ordinary) ++idle_;
        call.wait_for(lock, std::chrono::minutes(1));
        if (kind == Kind::ordinary) --idle_;
    }
}

}  // namespace ponk::net

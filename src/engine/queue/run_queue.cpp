// SPDX-License-Identifier: Apache-2.0
#include "engine/queue/run_queue.hpp"

#include "base/text.hpp"
#include "os/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ponk::engine {

QueueRules queue_rules(const std::vector<std::string>& variables)
{
    QueueRules rules;
    const auto most = parse_integer(os::variable(variables, "PONK_MAX_RUNS"));
    if (most && *most > 0) rules.runs_per_location = static_cast<std::size_t>(*most);
    return rules;
}

std::string location_key(const model::Location& location)
{
    // A cluster has room of its own, wherever its login node is.
    const std::string cluster = location.slurm ? "slurm " + location.target + " " : "";
    if (location.kind != model::Location::Kind::host) return cluster;
    const auto& host = location.host;
    return fmt::format("{}{}@{}:{}", cluster, host.user, host.address, host.port);
}

bool RunQueue::try_begin(const std::string& location, const RunId& id)
{
    const auto& there = all_[location];
    if (!there.waiting.empty() || there.under_way >= rules_.runs_per_location) return false;
    begin(location, id);
    return true;
}

void RunQueue::begin(const std::string& location, const RunId& id)
{
    if (under_way_.emplace(id, location).second) ++all_[location].under_way;
}

void RunQueue::end(const RunId& id)
{
    storing_.erase(id);
    const auto found = under_way_.find(id);
    if (found == under_way_.end()) return;
    auto& there = all_[found->second];
    if (--there.under_way == 0 && there.waiting.empty()) all_.erase(found->second);
    under_way_.erase(found);
}

std::size_t RunQueue::add(const std::string& location, WaitingRun run)
{
    auto& there = all_[location];
    const auto before = there.waiting.size() + there.under_way;
    locations_.emplace(run.id, location);
    there.waiting.push_back(std::move(run));
    return before;
}

WaitingRun* RunQueue::find(const RunId& id)
{
    const auto location = locations_.find(id);
    if (location == locations_.end()) return nullptr;
    auto& waiting = all_[location->second].waiting;
    const auto found = std::ranges::find(waiting, id, &WaitingRun::id);
    return found == waiting.end() ? nullptr : &*found;
}

bool RunQueue::offer(const RunId& id, const std::shared_ptr<const Submitter>& submitter)
{
    auto* const run = find(id);
    if (run == nullptr) return false;
    if (!run->submitter) run->submitter = submitter;
    return true;
}

bool RunQueue::remove(const RunId& id)
{
    const auto location = locations_.find(id);
    if (location == locations_.end()) return false;
    auto& there = all_[location->second];
    const auto found = std::ranges::find(there.waiting, id, &WaitingRun::id);
    const auto place = static_cast<std::size_t>(found - there.waiting.begin());
    if (place < there.looked_at) --there.looked_at;
    there.waiting.erase(found);
    locations_.erase(location);
    return true;
}

std::optional<WaitingRun> RunQueue::admit()
{
    for (auto& [location, there] : all_) {
        if (there.waiting.empty() || there.under_way >= rules_.runs_per_location) continue;
        // Its snapshot is ready in a moment.
        if (storing_.contains(there.waiting.front().id)) continue;
        auto run = std::move(there.waiting.front());
        there.waiting.pop_front();
        if (there.looked_at > 0) --there.looked_at;
        locations_.erase(run.id);
        begin(location, run.id);
        return run;
    }
    return std::nullopt;
}

std::optional<WaitingRun> RunQueue::next_snapshot()
{
    if (storing_.size() >= rules_.snapshots) return std::nullopt;
    for (auto& [location, there] : all_) {
        while (there.looked_at < there.waiting.size()) {
            const auto& run = there.waiting[there.looked_at++];
            if (run.has_snapshot) continue;
            storing_.insert(run.id);
            return run;
        }
    }
    return std::nullopt;
}

void RunQueue::stored(const RunId& id)
{
    storing_.erase(id);
    if (auto* const run = find(id)) run->has_snapshot = true;
}

std::shared_ptr<const Submitter> Submitters::keep(Submitter submitter)
{
    constexpr std::size_t most = 16;  // shells that submit in turn
    std::erase_if(recent_, [](const auto& known) { return known.expired(); });
    for (const auto& known : recent_) {
        if (auto same = known.lock(); same && *same == submitter) return same;
    }
    auto kept = std::make_shared<const Submitter>(std::move(submitter));
    recent_.push_front(kept);
    if (recent_.size() > most) recent_.pop_back();
    return kept;
}

}  // namespace ponk::engine

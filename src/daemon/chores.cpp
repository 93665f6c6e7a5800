// SPDX-License-Identifier: Apache-2.0
#include "daemon/chores.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace ponk::daemon {

namespace {

constexpr std::int64_t longest_pause_ms = std::int64_t{24} * 3600 * 1000;

}  // namespace

void Chores::add(std::string name, std::int64_t every_ms, Work work)
{
    chores_.push_back({std::move(name), every_ms, std::move(work)});
}

void Chores::work(std::int64_t wall_ms, std::int64_t boot_ms, const std::stop_token& stop)
{
    for (auto& chore : chores_) {
        if (stop.stop_requested()) return;
        if (!is_due(chore, wall_ms, boot_ms)) continue;
        auto outcome = chore.work(stop);
        if (stop.stop_requested()) return;  // half done is not done
        if (outcome && chore.every_ms > 0)
            outcome = history_.put_setting("janitor." + chore.name, std::to_string(wall_ms));
        note(chore, outcome, boot_ms);
    }
}

bool Chores::is_due(const Chore& chore, std::int64_t wall_ms, std::int64_t boot_ms) const
{
    if (chore.next_try > boot_ms) return false;
    if (chore.every_ms == 0) return true;
    const auto stored = history_.find_setting("janitor." + chore.name);
    const auto last = stored && *stored ? parse_integer(**stored).value_or(0) : 0;
    return last > wall_ms || wall_ms - last >= chore.every_ms;
}

void Chores::note(Chore& chore, const Result<>& outcome, std::int64_t boot_ms)
{
    if (outcome) {
        if (!std::exchange(chore.problem, {}).empty())
            tell_("janitor: " + chore.name + ": done again");
        chore.next_try = 0;
        chore.pause_ms = first_pause_ms;
        return;
    }
    chore.next_try = boot_ms + chore.pause_ms;
    chore.pause_ms = std::min(chore.pause_ms * 2, longest_pause_ms);
    const auto text = outcome.error().message();
    if (text == std::exchange(chore.problem, text)) return;
    tell_("janitor: " + chore.name + ": " + text + "; it is tried again");
}

}  // namespace ponk::daemon

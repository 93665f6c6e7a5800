// SPDX-License-Identifier: Apache-2.0
#include "relay/experiment_names.hpp"

#include "base/hash.hpp"

#include <algorithm>

namespace ponk::relay {

namespace {

// A search names hardly more.
constexpr std::size_t most_asked = 100;

}  // namespace

std::string other_experiment_id(const std::string& name)
{
    // A number, as ids of experiments are, and above all that history gives out.
    constexpr std::uint64_t first = 100'000'000'000'000'000;
    const auto hash = std::uint64_t{crc32(name)} << 32 | crc32c(name);
    return std::to_string(first + hash % (8 * first));
}

ExperimentNames::ExperimentNames(std::string own_id, std::string own_name, const std::string& home)
    : own_id_(std::move(own_id)), own_name_(std::move(own_name)), state_(State{home, {}, {}})
{
}

ExperimentNames::Named ExperimentNames::name(const std::string& name, How how, Run run)
{
    const auto state = state_.lock();
    const bool is_free = run == Run::unused || (run == Run::ended && state->home.empty());
    if (!is_free && name != own_name_ && name != state->home)
        return {other_experiment_id(name), false};
    // What was asked for and searched in is left behind.
    const bool goes_on = state->asked.empty();
    std::erase(state->asked, name);
    if (state->asked.size() == most_asked) state->asked.erase(state->asked.begin());
    state->asked.push_back(name);
    const bool moves = run == Run::unused && (goes_on || how == How::made);
    const bool changes = moves && state->home != name;
    if (changes) state->home = name;
    return {own_id_, changes};
}

std::string ExperimentNames::of_new_run()
{
    const auto state = state_.lock();
    if (!state->asked.empty()) state->home = state->asked.back();
    return state->home == own_name_ ? std::string() : state->home;
}

std::vector<std::string> ExperimentNames::of_search(std::size_t times, Page page)
{
    const auto state = state_.lock();
    if (page == Page::next && !state->searched.empty()) return state->searched;
    const auto count = std::min(times, state->asked.size());
    state->searched.assign(state->asked.end() - static_cast<std::ptrdiff_t>(count),
                           state->asked.end());
    if (count == 0) state->searched = {home_of(*state)};
    state->asked.clear();
    return state->searched;
}

std::string ExperimentNames::shown() const
{
    return home_of(*state_.lock());
}

std::string ExperimentNames::id_of(const std::string& name) const
{
    const auto state = state_.lock();
    const bool own = name.empty() || name == own_name_ || name == state->home;
    return own ? own_id_ : other_experiment_id(name);
}

const std::string& ExperimentNames::home_of(const State& state) const
{
    return state.home.empty() ? own_name_ : state.home;
}

}  // namespace ponk::relay

// SPDX-License-Identifier: Apache-2.0
#include "relay/experiment_names.hpp"

namespace ponk::relay {

ExperimentNames::ExperimentNames(std::string own, const std::string& last)
    : own_(std::move(own)), state_(State{last, last})
{
}

bool ExperimentNames::name(const std::string& name, How how)
{
    const auto state = state_.lock();
    state->asked = name;
    state->searched = false;
    if (how == How::found && !state->active.empty()) return false;
    const bool changes = state->active != name;
    state->active = name;
    return changes;
}

std::string ExperimentNames::of_new_run()
{
    const auto state = state_.lock();
    if (!state->searched) state->active = state->asked;
    return other(state->active);
}

std::string ExperimentNames::of_search(Page page)
{
    const auto state = state_.lock();
    if (page == Page::first) {
        if (state->searched) state->asked = state->active;
        state->searched = true;
    }
    return other(state->asked);
}

std::string ExperimentNames::shown() const
{
    const auto state = state_.lock();
    return state->active.empty() ? own_ : state->active;
}

std::string ExperimentNames::other(const std::string& name) const
{
    return name == own_ ? std::string() : name;
}

}  // namespace ponk::relay

// SPDX-License-Identifier: Apache-2.0
#include "engine/context/notifier.hpp"

#include <utility>
#include <vector>

namespace ponk::engine {

Notifier::Subscription& Notifier::Subscription::operator=(Subscription&& other) noexcept
{
    if (this == &other) return *this;
    end();
    owner_ = std::exchange(other.owner_, nullptr);
    run_ = std::move(other.run_);
    number_ = other.number_;
    return *this;
}

void Notifier::Subscription::end()
{
    if (!owner_) return;
    auto state = std::exchange(owner_, nullptr)->state_.lock();
    const auto found = state->listeners.find(run_);
    if (found == state->listeners.end()) return;
    found->second.erase(number_);
    if (found->second.empty()) state->listeners.erase(found);
}

Notifier::Subscription Notifier::subscribe(const RunId& run, Listener listener)
{
    auto state = state_.lock();
    const auto number = state->next++;
    state->listeners[run].emplace(number, std::make_shared<const Listener>(std::move(listener)));
    return {*this, run, number};
}

void Notifier::ring(const RunId& run)
{
    std::vector<std::shared_ptr<const Listener>> listeners;
    {
        auto state = state_.lock();
        const auto found = state->listeners.find(run);
        if (found == state->listeners.end()) return;
        for (const auto& [number, listener] : found->second)
            listeners.push_back(listener);
    }
    for (const auto& listener : listeners)
        (*listener)();
}

}  // namespace ponk::engine

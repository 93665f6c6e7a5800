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
    number_ = other.number_;
    run_ = std::move(other.run_);
    return *this;
}

void Notifier::Subscription::end()
{
    if (!owner_) return;
    auto state = std::exchange(owner_, nullptr)->state_.lock();
    if (!run_) {
        state->watchers.erase(number_);
        return;
    }
    const auto found = state->listeners.find(*run_);
    if (found == state->listeners.end()) return;
    found->second.erase(number_);
    if (found->second.empty()) state->listeners.erase(found);
}

Notifier::Subscription Notifier::subscribe(const RunId& run, Listener listener)
{
    auto state = state_.lock();
    const auto number = state->next++;
    state->listeners[run].emplace(number, std::make_shared<const Listener>(std::move(listener)));
    return {*this, number, run};
}

Notifier::Subscription Notifier::watch(Watcher watcher)
{
    auto state = state_.lock();
    const auto number = state->next++;
    state->watchers.emplace(number, std::make_shared<const Watcher>(std::move(watcher)));
    return {*this, number, std::nullopt};
}

void Notifier::ring(const RunId& run, News news)
{
    std::vector<std::shared_ptr<const Listener>> listeners;
    Watchers watchers;
    {
        auto state = state_.lock();
        watchers = state->watchers;
        const auto found = state->listeners.find(run);
        if (found != state->listeners.end()) {
            for (const auto& [number, listener] : found->second)
                listeners.push_back(listener);
        }
    }
    for (const auto& listener : listeners)
        (*listener)();
    tell(watchers, &run, news);
}

void Notifier::ring_all()
{
    const auto watchers = state_.lock()->watchers;
    tell(watchers, nullptr, News::row);
}

void Notifier::tell(const Watchers& watchers, const RunId* run, News news)
{
    for (const auto& entry : watchers)
        (*entry.second)(run, news);
}

}  // namespace ponk::engine

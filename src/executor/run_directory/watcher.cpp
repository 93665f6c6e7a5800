// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/watcher.hpp"

#include "executor/run_directory/control_directory.hpp"
#include "os/process.hpp"

#include <cstring>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

constexpr std::uint32_t interesting =
    IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW;

}  // namespace

Watcher::Watcher()
    : inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { work(stop); })
{
}

Watcher::~Watcher()
{
    thread_.request_stop();
    changed_.ring();
}

Watcher::Subscription::Subscription(Watcher& watcher, const Path& directory) : watcher_(watcher)
{
    const auto state = watcher_.state_.lock();
    for (const auto& folder : {directory, directory / control::journal}) {
        const int watch = ::inotify_add_watch(watcher_.inotify_.get(), folder.c_str(), interesting);
        if (watch < 0) continue;
        state->bells[watch].insert(&bell_);
        watches_.push_back(watch);
    }
    works_ = !watches_.empty();
}

Watcher::Subscription::~Subscription()
{
    const auto state = watcher_.state_.lock();
    for (const int watch : watches_) {
        const auto found = state->bells.find(watch);
        if (found == state->bells.end()) continue;
        found->second.erase(&bell_);
        if (!found->second.empty()) continue;
        ::inotify_rm_watch(watcher_.inotify_.get(), watch);
        state->bells.erase(found);
    }
}

void Watcher::reap_later(os::Fd pidfd)
{
    state_.lock()->children.push_back(std::move(pidfd));
    changed_.ring();
}

void Watcher::ring()
{
    alignas(inotify_event) char events[65536];
    const auto got = ::read(inotify_.get(), events, sizeof events);
    if (got <= 0) return;
    const auto state = state_.lock();
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, events + at, sizeof event);
        at += sizeof event + event.len;
        if ((event.mask & IN_Q_OVERFLOW) != 0) {  // something was lost: everybody looks
            for (const auto& [watch, bells] : state->bells) {
                for (const auto* bell : bells)
                    bell->ring();
            }
        }
        const auto found = state->bells.find(event.wd);
        if (found == state->bells.end()) continue;
        for (const auto* bell : found->second)
            bell->ring();
    }
}

void Watcher::work(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        std::vector<pollfd> polled{{changed_.fd(), POLLIN, 0}, {inotify_.get(), POLLIN, 0}};
        {
            const auto state = state_.lock();
            for (const auto& child : state->children)
                polled.push_back({child.get(), POLLIN, 0});
        }
        ::poll(polled.data(), polled.size(), -1);
        if (polled[0].revents != 0) changed_.silence();
        if (polled[1].revents != 0) ring();
        const auto state = state_.lock();
        // Only this thread removes children and new ones are added behind: indices still fit.
        for (std::size_t i = polled.size(); i-- > 2;) {
            if (polled[i].revents == 0) continue;
            os::reap(state->children[i - 2].get());
            state->children.erase(state->children.begin() + static_cast<std::ptrdiff_t>(i - 2));
        }
    }
}

}  // namespace ponk::executor

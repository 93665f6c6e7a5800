// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <thread>

namespace ponk::os {

// Something that is done beside, on a thread that starts with the first call. Calls that come while
// it waits to be done are one, those that come while it is done make it be done once more. Safe to
// call from any thread; `work` must not throw.
class Chore {
public:
    // The name is the thread's, of at most 15 letters. The work begins `delay` after the call.
    Chore(const char* name,
          std::function<void()> work,
          std::chrono::milliseconds delay = std::chrono::milliseconds(0))
        : name_(name), work_(std::move(work)), delay_(delay)
    {
    }
    // Waits for what is being done now; what was called for since is left.
    ~Chore();
    Chore(const Chore&) = delete;
    Chore& operator=(const Chore&) = delete;

    void call();

private:
    struct State {
        bool called = false;
        bool ends = false;
        std::thread thread;
    };
    void serve();

    const char* name_;
    std::function<void()> work_;
    const std::chrono::milliseconds delay_;
    Synced<State> state_;
    std::condition_variable changed_;
};

}  // namespace ponk::os

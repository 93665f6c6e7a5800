// SPDX-License-Identifier: Apache-2.0
#include "os/chore.hpp"

#include <pthread.h>

namespace ponk::os {

Chore::~Chore()
{
    std::thread thread;
    {
        auto state = state_.lock();
        state->ends = true;
        thread.swap(state->thread);
        changed_.notify_one();
    }
    if (thread.joinable()) thread.join();
}

void Chore::call()
{
    auto state = state_.lock();
    if (state->called || state->ends) return;
    if (!state->thread.joinable()) state->thread = std::thread([this] { serve(); });
    state->called = true;
    changed_.notify_one();
}

void Chore::serve()
{
    ::pthread_setname_np(::pthread_self(), name_);
    for (;;) {
        {
            auto state = state_.lock();
            changed_.wait(state.native(), [&state] { return state->called || state->ends; });
            const auto ends = [&state] { return state->ends; };
            if (changed_.wait_for(state.native(), delay_, ends)) return;
            state->called = false;
        }
        work_();
    }
}

}  // namespace ponk::os

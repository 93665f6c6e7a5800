// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace ponk {

// The first of a queue, which must not be empty, and no longer in it.
template <class Queue>
typename Queue::value_type take_front(Queue& queue)
{
    auto first = std::move(queue.front());
    queue.pop_front();
    return first;
}

}  // namespace ponk

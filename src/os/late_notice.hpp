// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace ponk::os {

// Says something once when it has lived for `span`, on a thread of its own: for waits that are
// mostly short, and should not be silent when they are not. Its end waits for a saying that is
// under way.
class LateNotice {
public:
    LateNotice(std::chrono::milliseconds span, std::function<void()> say);

private:
    std::jthread thread_;
};

}  // namespace ponk::os

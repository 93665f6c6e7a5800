// SPDX-License-Identifier: Apache-2.0
#include "os/late_notice.hpp"

#include "os/wait.hpp"

namespace ponk::os {

LateNotice::LateNotice(std::chrono::milliseconds span, std::function<void()> say)
    : thread_([span, say = std::move(say)](const std::stop_token& stop) {
          if (sleep_for(span, stop)) say();
      })
{
}

}  // namespace ponk::os

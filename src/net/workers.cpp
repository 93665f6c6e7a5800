// SPDX-License-Identifier: Apache-2.0
#include "net/workers.hpp"

#include "base/take.hpp"

#include <boost/asio/post.hpp>

namespace ponk::net {

Workers::Workers(std::size_t count)
    : pool_(count), slow_limit_(count > 3 ? count - 2 : std::size_t{1})
{
}

void Workers::run(Reception::Pace pace, Job job)
{
    if (pace == Reception::Pace::quick) {
        boost::asio::post(pool_, std::move(job));
        return;
    }
    {
        const auto slow = slow_.lock();
        if (slow->running >= slow_limit_) {
            slow->waiting.push_back(std::move(job));
            return;
        }
        ++slow->running;
    }
    run_slow(std::move(job));
}

void Workers::run_slow(Job job)
{
    boost::asio::post(pool_, [this, job = std::move(job)] {
        job();
        Job next;
        {
            const auto slow = slow_.lock();
            if (slow->waiting.empty()) {
                --slow->running;
                return;
            }
            next = take_front(slow->waiting);
        }
        run_slow(std::move(next));
    });
}

}  // namespace ponk::net

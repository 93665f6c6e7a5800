// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "net/server.hpp"

#include <boost/asio/thread_pool.hpp>

#include <deque>
#include <functional>

// Inside net/ only: this header pulls in Asio.
namespace ponk::net {

// Threads for what may block. Slow jobs wait in a row of their own while as many run as may, so
// that two threads, or one of two, are always left for the quick ones.
class Workers {
public:
    using Job = std::function<void()>;

    explicit Workers(std::size_t count);

    void run(Reception::Pace pace, Job job);
    void join() { pool_.join(); }

private:
    struct Slow {
        std::size_t running = 0;
        std::deque<Job> waiting;
    };
    void run_slow(Job job);

    boost::asio::thread_pool pool_;
    std::size_t slow_limit_;
    Synced<Slow> slow_;
};

}  // namespace ponk::net

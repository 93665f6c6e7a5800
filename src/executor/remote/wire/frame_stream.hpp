// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "base/time.hpp"
#include "executor/remote/wire/frame.hpp"
#include "os/fd.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <stop_token>
#include <thread>

namespace ponk::executor::remote {

// Writes frames in the order in which they are given, on a thread of its own, so that nobody waits
// for a slow line but who asked to. Any thread may call.
class FrameWriter {
public:
    // Nothing could be written for this long: the line is dead.
    static constexpr std::chrono::seconds patience{60};

    // `on_failure` is called once, on the writer's thread.
    FrameWriter(int fd, std::function<void(const Error&)> on_failure);
    ~FrameWriter();
    FrameWriter(const FrameWriter&) = delete;
    FrameWriter& operator=(const FrameWriter&) = delete;

    // Waits while much is queued already; false once the line is dead or `stop` was requested.
    bool put(std::string bytes, const std::stop_token& stop = {});
    // Waits until all is written, at most until the deadline.
    void drain(Deadline deadline);

private:
    struct Queue {
        std::deque<std::string> waiting;
        std::size_t bytes = 0;  // with the one that is being written
        bool dead = false;
    };
    void work(const std::stop_token& stop);

    int fd_;
    std::function<void(const Error&)> on_failure_;
    Synced<Queue> queue_;
    std::condition_variable_any changed_;
    std::jthread thread_;  // last
};

// Writes all of it to a descriptor that does not block; `timeout` when nothing moved for
// `patience`.
Result<> write_patiently(int fd,
                         std::string_view bytes,
                         std::chrono::milliseconds patience,
                         const std::stop_token& stop);

// Waits for bytes and reads what is there; an empty text is the end.
Result<std::string> read_some(int fd, Deadline deadline, const std::stop_token& stop);

void make_nonblocking(int fd);

}  // namespace ponk::executor::remote

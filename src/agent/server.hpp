// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/calls.hpp"
#include "base/synced.hpp"
#include "executor/remote/wire/frame_stream.hpp"
#include "os/fd.hpp"

#include <map>
#include <thread>

namespace ponk::agent {

// Serves one connection: a thread per request. Ends when its input ends, or when nothing at all was
// heard for so long that the other side must be gone.
class Server {
public:
    static constexpr std::chrono::seconds silence_limit{90};

    Server(Calls& calls, os::Fd in, os::Fd out);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Returns when the connection is over.
    Result<> serve(const Json& hello);

private:
    struct Request {
        std::jthread thread;
        bool over = false;
    };
    using Requests = std::map<std::uint32_t, Request>;

    void take(executor::remote::Frame frame);
    void begin(executor::remote::Frame frame);
    void answer(const executor::remote::Frame& frame, const std::stop_token& stop);
    void send(const executor::remote::Frame& frame);
    void forget_finished();

    Calls& calls_;
    os::Fd in_;
    os::Fd out_;
    Synced<Requests> requests_;
    std::unique_ptr<executor::remote::FrameWriter> writer_;
    std::jthread housekeeper_;
};

}  // namespace ponk::agent

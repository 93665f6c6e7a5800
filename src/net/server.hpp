// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"
#include "os/fd.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace ponk::net {

// Called on a worker thread, may block; exceptions become a 500.
using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
    std::size_t io_threads = 2;
    std::size_t workers = 8;
    std::size_t body_limit = std::size_t{8} << 20;
    std::size_t connection_limit = 12'000;
    // For a connection's first byte, for a request's body and for each piece of an answer.
    std::chrono::milliseconds request_timeout{60'000};
    // For a request's head, from its first byte on.
    std::chrono::milliseconds head_timeout{10'000};
    // Between requests.
    std::chrono::milliseconds idle_timeout{600'000};
};

// An HTTP/1.1 server on a listening Unix socket: an event loop on a few threads, so that thousands
// of log followers cost a descriptor each and no thread; handlers run on a fixed pool.
class Server {
public:
    Server(os::Fd listener, Handler handler, ServerOptions options = {});
    // Stops accepting, drops all connections and joins the threads.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::size_t open_connections() const;
    // Requests answered so far; tells an idle daemon from a busy one.
    [[nodiscard]] std::uint64_t requests_served() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ponk::net

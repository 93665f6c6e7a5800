// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server.hpp"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <memory>

// Inside net/ only: this header pulls in Asio.
namespace ponk::net {

struct Shared {
    Handler handler;
    ServerOptions options;
    boost::asio::thread_pool workers;
    std::atomic<std::size_t> open{0};
    std::atomic<std::uint64_t> served{0};

    Shared(Handler h, const ServerOptions& o)
        : handler(std::move(h)), options(o), workers(o.workers)
    {
    }
};

using Socket = boost::asio::generic::stream_protocol::socket;

// Serves one connection until it closes. Keeps itself alive through its pending operations.
void serve_connection(Socket socket, std::shared_ptr<Shared> shared);

}  // namespace ponk::net

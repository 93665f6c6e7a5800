// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/account.hpp"
#include "net/connection_table.hpp"
#include "net/server.hpp"
#include "net/transport.hpp"
#include "net/workers.hpp"

#include <atomic>
#include <memory>

// Inside net/ only: this header pulls in Asio.
namespace ponk::net {

// Answers that were promised and have not come yet.
class Promises {
public:
    void make() { ++count_; }
    void keep()
    {
        if (--count_ == 0) count_.notify_all();
    }
    void wait_for_all()
    {
        for (auto left = count_.load(); left != 0; left = count_.load())
            count_.wait(left);
    }

private:
    std::atomic<std::size_t> count_{0};
};

struct Shared {
    Handlers handlers;
    ServerOptions options;
    Workers workers;
    Accounts accounts;
    ConnectionTable connections;
    Promises promises;
    // Those that speak as WebSockets.
    Synced<std::map<const void*, std::weak_ptr<CountedConnection>>> sockets;
    std::atomic<std::size_t> body_bytes{0};    // in memory now
    std::atomic<std::size_t> answer_bytes{0};  // likewise
    std::atomic<std::uint64_t> served{0};
    std::atomic<bool> ends{false};

    Shared(Handlers h, const ServerOptions& o)
        : handlers(std::move(h)), options(o), workers(o.workers),
          connections(o.connection_limit, o.peer_limit)
    {
    }

    [[nodiscard]] Response error(std::string_view target, const Error& error, int status) const
    {
        if (handlers.error_shape) return handlers.error_shape(target, error, status);
        return error_response(error, status);
    }
};

// Serves one connection, which was counted in already, until it closes. Keeps itself alive through
// its pending operations. `peer` is empty on Unix sockets.
void serve_connection(std::unique_ptr<Transport> transport,
                      ListenerKind listener_kind,
                      std::string peer,
                      std::shared_ptr<Shared> shared);

}  // namespace ponk::net

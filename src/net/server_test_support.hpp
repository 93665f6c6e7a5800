// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server.hpp"
#include "os/file.hpp"
#include "os/tcp_socket.hpp"
#include "os/wait.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <pthread.h>
#include <string>
#include <sys/socket.h>
#include <thread>

namespace ponk::net {

inline std::string thread_name()
{
    char name[16] = {};
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    return name;
}

// A client that says exactly what it is told to, right or wrong.
class RawClient {
public:
    explicit RawClient(std::uint16_t port)
        : socket_(*os::connect_tcp(os::loopback_address(AF_INET, port)))
    {
    }

    // False when the other side does not take it any more.
    bool send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const auto put = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (put <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
        return true;
    }
    void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }

    // Everything until `mark` came, or the end.
    std::string receive_until(std::string_view mark)
    {
        std::size_t looked = 0;  // it is not in here
        while (mark.empty() || seen_.find(mark, looked) == std::string::npos) {
            looked = seen_.size() - std::min(seen_.size(), mark.size());
            if (!os::wait_readable(socket_.get(), after(std::chrono::seconds(20)), {})) break;
            char block[65536];
            const auto got = ::recv(socket_.get(), block, sizeof block, 0);
            if (got <= 0) break;
            seen_.append(block, static_cast<std::size_t>(got));
        }
        const auto at = mark.empty() ? std::string::npos : seen_.find(mark, looked);
        const auto size = at == std::string::npos ? seen_.size() : at + mark.size();
        auto text = seen_.substr(0, size);
        seen_.erase(0, size);
        return text;
    }
    std::string receive_all() { return receive_until(""); }
    [[nodiscard]] int fd() const { return socket_.get(); }

private:
    os::Fd socket_;
    std::string seen_;
};

// A server on a port of its own.
class TcpServer {
public:
    explicit TcpServer(Handlers handlers,
                       ServerOptions options = {},
                       ListenerKind listener_kind = ListenerKind::loopback)
    {
        auto socket = *os::listen_tcp(os::loopback_address(AF_INET, 0));
        port_ = *os::port_of(socket.get());
        std::vector<Listener> listeners;
        listeners.push_back({.socket = std::move(socket), .listener_kind = listener_kind});
        server_ = std::make_unique<Server>(std::move(listeners), std::move(handlers), options);
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] RawClient connect() const { return RawClient(port_); }
    [[nodiscard]] const Server& server() const { return *server_; }
    // Connections are counted until their last handler has run.
    [[nodiscard]] bool comes_down_to(std::size_t connections) const
    {
        const auto limit = after(std::chrono::seconds(20));
        while (server_->open_connections() > connections && Deadline::clock::now() < limit)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return server_->open_connections() == connections;
    }

private:
    std::uint16_t port_ = 0;
    std::unique_ptr<Server> server_;
};

}  // namespace ponk::net

// SPDX-License-Identifier: Apache-2.0
#include "net/server.hpp"

#include "net/connection.hpp"
#include "os/socket.hpp"
#include "os/tcp_socket.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

// Accepted at once, before the other connections get their turn.
constexpr int at_a_time = 64;

std::vector<Listener> only(os::Fd socket)
{
    std::vector<Listener> listeners;
    listeners.push_back({.socket = std::move(socket)});
    return listeners;
}

// The socket's mode keeps others out already; root may pass it, so ask again.
bool is_welcome(ListenerKind listener_kind, int socket)
{
    if (listener_kind != ListenerKind::unix_socket) return true;
    const auto peer = os::peer_user(socket);
    return peer && (*peer == ::geteuid() || *peer == 0);
}

}  // namespace

struct Server::State {
    struct OpenListener {
        OpenListener(asio::io_context& io, Listener&& listener)
            : descriptor(io, listener.socket.release()), listener_kind(listener.listener_kind),
              tls(std::move(listener.tls)), plain(listener.plain), pause(io)
        {
        }
        asio::posix::stream_descriptor descriptor;
        ListenerKind listener_kind;
        std::shared_ptr<Tls> tls;
        Listener::Plain plain;
        asio::steady_timer pause;
    };

    State(Handlers handlers, const ServerOptions& options)
        : shared(std::make_shared<Shared>(std::move(handlers), options))
    {
    }

    void wait(OpenListener& gate)
    {
        gate.descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                   [this, &gate](error_code problem) {
                                       if (!problem) accept(gate);
                                   });
    }

    void accept(OpenListener& gate)
    {
        for (int i = 0; i < at_a_time; ++i) {
            sockaddr_storage address{};
            socklen_t size = sizeof address;
            const int fd = ::accept4(gate.descriptor.native_handle(),
                                     reinterpret_cast<sockaddr*>(&address),
                                     &size,
                                     SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd >= 0) {
                welcome(gate, os::Fd(fd), address);
                continue;
            }
            if (errno == EAGAIN) break;
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return pause_accept(gate);
        }
        wait(gate);
    }

    // Out of descriptors: what is open goes on, newcomers wait.
    void pause_accept(OpenListener& gate)
    {
        gate.pause.expires_after(std::chrono::milliseconds(50));
        gate.pause.async_wait([this, &gate](error_code stopped) {
            if (!stopped) wait(gate);
        });
    }

    // The owner's sockets have a loop and a thread for themselves.
    asio::io_context& loop_of(ListenerKind listener_kind)
    {
        return listener_kind == ListenerKind::unix_socket ? reserved_io : io;
    }

    void welcome(const OpenListener& gate, os::Fd fd, const sockaddr_storage& address)
    {
        auto peer = os::address_text(address);
        if (!is_welcome(gate.listener_kind, fd.get()) || !shared->connections.enter(peer)) return;
        const int family = address.ss_family == 0 ? AF_UNIX : address.ss_family;
        const int protocol = family == AF_UNIX ? 0 : IPPROTO_TCP;
        if (family != AF_UNIX) {
            const int one = 1;
            ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            // A machine that vanished without a word is found out in the end.
            ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
        }
        Socket socket(asio::make_strand(loop_of(gate.listener_kind)));
        error_code problem;
        socket.assign(asio::generic::stream_protocol(family, protocol), fd.get(), problem);
        if (!problem) socket.non_blocking(true, problem);
        if (problem) return shared->connections.leave(peer);
        static_cast<void>(fd.release());
        serve_connection(
            make_transport(gate, std::move(socket)), gate.listener_kind, std::move(peer), shared);
    }

    static std::unique_ptr<Transport> make_transport(const OpenListener& gate, Socket socket)
    {
        if (!gate.tls) return make_plain_transport(std::move(socket));
        if (gate.plain == Listener::Plain::refused)
            return make_tls_transport(std::move(socket), *gate.tls);
        return make_either_transport(std::move(socket), gate.tls);
    }

    void start_thread(asio::io_context& loop, const char* name)
    {
        threads.emplace_back([&loop, name] {
            ::pthread_setname_np(::pthread_self(), name);
            loop.run();
        });
    }

    // Pages connect again at once when they are told; others need not wait for them.
    void say_goodbye()
    {
        const auto left = [this] {
            std::vector<std::shared_ptr<CountedConnection>> open;
            const auto sockets = shared->sockets.lock();
            for (const auto& entry : *sockets) {
                if (auto one = entry.second.lock()) open.push_back(std::move(one));
            }
            return open;
        };
        for (const auto& one : left())
            one->say_goodbye();
        const auto limit = std::chrono::steady_clock::now() + shared->options.farewell_limit;
        while (!left().empty() && std::chrono::steady_clock::now() < limit)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }

    asio::io_context io;
    asio::io_context reserved_io;
    std::shared_ptr<Shared> shared;
    std::vector<std::unique_ptr<OpenListener>> gates;
    std::vector<std::jthread> threads;
};

Server::Server(std::vector<Listener> listeners, Handlers handlers, ServerOptions options)
    : state_(std::make_unique<State>(std::move(handlers), options))
{
    for (auto& listener : listeners) {
        auto& loop = state_->loop_of(listener.listener_kind);
        state_->gates.push_back(std::make_unique<State::OpenListener>(loop, std::move(listener)));
        state_->wait(*state_->gates.back());
    }
    // A loop without a socket ends at once, and its threads with it.
    for (std::size_t i = 0; i < options.io_threads; ++i)
        state_->start_thread(state_->io, "ponk-io");
    state_->start_thread(state_->reserved_io, "ponk-io-owner");
}

Server::Server(os::Fd listener, Handler handler, ServerOptions options)
    : Server(only(std::move(listener)), Handlers{.answer = std::move(handler)}, options)
{
}

Server::~Server()
{
    state_->shared->ends = true;
    state_->say_goodbye();
    state_->io.stop();
    state_->reserved_io.stop();
    state_->threads.clear();
    state_->shared->workers.join();
    state_->shared->promises.wait_for_all();
}

std::size_t Server::open_connections() const
{
    return state_->shared->connections.count();
}

std::uint64_t Server::requests_served() const
{
    return state_->shared->served;
}

}  // namespace ponk::net

// SPDX-License-Identifier: Apache-2.0
#include "net/server.hpp"

#include "net/connection.hpp"
#include "os/socket.hpp"

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace ponk::net {

namespace asio = boost::asio;
using boost::system::error_code;

struct Server::State {
    State(os::Fd listener, Handler handler, const ServerOptions& options)
        : shared(std::make_shared<Shared>(std::move(handler), options)),
          acceptor(io, asio::local::stream_protocol(), listener.release()), pause(io)
    {
    }

    void accept()
    {
        acceptor.async_accept(
            [this](error_code problem, asio::local::stream_protocol::socket socket) {
                if (problem == asio::error::operation_aborted) return;
                if (problem) {  // out of descriptors: breathe, then go on
                    pause.expires_after(std::chrono::milliseconds(50));
                    pause.async_wait([this](error_code stopped) {
                        if (!stopped) accept();
                    });
                    return;
                }
                const auto peer = os::peer_user(socket.native_handle());
                // The socket's mode keeps others out already; root may pass it, so ask again.
                const bool welcome = peer && (*peer == ::geteuid() || *peer == 0);
                if (welcome && shared->open < shared->options.connection_limit)
                    serve_connection(Socket(std::move(socket)), shared);
                accept();
            });
    }

    asio::io_context io;
    std::shared_ptr<Shared> shared;
    asio::local::stream_protocol::acceptor acceptor;
    asio::steady_timer pause;
    std::vector<std::jthread> threads;
};

Server::Server(os::Fd listener, Handler handler, ServerOptions options)
    : state_(std::make_unique<State>(std::move(listener), std::move(handler), options))
{
    state_->accept();
    for (std::size_t i = 0; i < options.io_threads; ++i) {
        state_->threads.emplace_back([this] {
            ::pthread_setname_np(::pthread_self(), "ponk-io");
            state_->io.run();
        });
    }
}

Server::~Server()
{
    state_->io.stop();
    state_->threads.clear();
    state_->shared->workers.join();
}

std::size_t Server::open_connections() const
{
    return state_->shared->open;
}

std::uint64_t Server::requests_served() const
{
    return state_->shared->served;
}

}  // namespace ponk::net

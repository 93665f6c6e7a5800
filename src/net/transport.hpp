// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/tls.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <array>
#include <functional>
#include <memory>

// Inside net/ only: this header pulls in Asio.
namespace ponk::net {

using Socket = boost::asio::generic::stream_protocol::socket;
using boost::system::error_code;

// The bytes of a connection, plain or through TLS. Calls and their ends are on the executor of the
// socket, which is a strand; one reading and one writing operation at a time.
class Transport {
public:
    using Done = std::function<void(error_code problem, std::size_t bytes)>;
    using Parts = std::array<boost::asio::const_buffer, 3>;

    // Runs `job` where it keeps nobody else waiting, and then `next` here. Nothing else is called
    // meanwhile.
    using Lend = std::function<void(std::function<void()> job, std::function<void()> next)>;

    explicit Transport(Socket socket) : raw_(std::move(socket)) {}
    virtual ~Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // For what keeps a processor busy. Before anything else.
    void lend_by(Lend lend) { lend_ = std::move(lend); }
    virtual void greet(Done done) = 0;
    // Ends when there may be something to read, without a buffer as long as there is nothing.
    virtual void wait_readable(Done done) = 0;
    // What can be read or written without waiting, now; nothing where only the calls below can say,
    // also why. At the end there is nothing to read. Also from another thread, as long as nothing
    // else is called.
    virtual std::size_t try_read(boost::asio::mutable_buffer /*room*/) { return 0; }
    virtual std::size_t try_write(boost::asio::const_buffer /*bytes*/) { return 0; }
    virtual void read_some(boost::asio::mutable_buffer room, Done done) = 0;
    virtual void write(const Parts& parts, Done done) = 0;
    // Tells the other side that nothing more comes, where that can be told without waiting.
    virtual void end_sending() = 0;

    [[nodiscard]] Socket& raw() { return raw_; }
    [[nodiscard]] boost::asio::any_io_executor executor() { return raw_.get_executor(); }
    void close()
    {
        error_code ignored;
        raw_.close(ignored);
    }

protected:
    Socket raw_;
    Lend lend_;
};

std::unique_ptr<Transport> make_plain_transport(Socket socket);
std::unique_ptr<Transport> make_tls_transport(Socket socket, const Tls& tls);
// Whichever of the two the first byte begins.
std::unique_ptr<Transport> make_either_transport(Socket socket, std::shared_ptr<Tls> tls);

}  // namespace ponk::net

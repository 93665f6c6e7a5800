// SPDX-License-Identifier: Apache-2.0
#include "net/transport.hpp"

#include <boost/asio/write.hpp>

namespace ponk::net {

namespace {

namespace asio = boost::asio;

class PlainTransport final : public Transport {
public:
    using Transport::Transport;

    void greet(Done done) override { done({}, 0); }
    void wait_readable(Done done) override
    {
        raw_.async_wait(Socket::wait_read,
                        [done = std::move(done)](error_code problem) { done(problem, 0); });
    }
    std::size_t try_read(asio::mutable_buffer room) override
    {
        error_code problem;
        const auto got = raw_.read_some(room, problem);
        return problem ? 0 : got;
    }
    std::size_t try_write(asio::const_buffer bytes) override
    {
        error_code problem;
        const auto sent = raw_.write_some(bytes, problem);
        return problem ? 0 : sent;
    }
    void read_some(asio::mutable_buffer room, Done done) override
    {
        raw_.async_read_some(room, std::move(done));
    }
    void write(const Parts& parts, Done done) override
    {
        asio::async_write(raw_, parts, std::move(done));
    }
    void end_sending() override
    {
        error_code ignored;
        raw_.shutdown(Socket::shutdown_send, ignored);
    }
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(Socket socket)
{
    return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace ponk::net

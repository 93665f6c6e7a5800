// SPDX-License-Identifier: Apache-2.0
#include "net/wire.hpp"

#include "os/wait.hpp"

#include <cerrno>
#include <sys/socket.h>

namespace ponk::net {

namespace {

class PlainWire final : public Wire {
public:
    explicit PlainWire(os::Fd socket) : socket_(std::move(socket)) {}

    Result<std::size_t>
    send(std::string_view bytes, const Limit& limit, const std::stop_token& stop) override
    {
        for (;;) {
            const auto put =
                ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (put > 0) return static_cast<std::size_t>(put);
            if (errno != EAGAIN && errno != EINTR)
                return fail(ErrorKind::unavailable, "while sending");
            TRY(os::wait_writable(socket_.get(), limit(), stop));
        }
    }

    Result<std::size_t>
    receive(char* room, std::size_t size, const Limit& limit, const std::stop_token& stop) override
    {
        for (;;) {
            const auto got = ::recv(socket_.get(), room, size, MSG_DONTWAIT);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EAGAIN && errno != EINTR)
                return fail(ErrorKind::unavailable, "while receiving");
            TRY(os::wait_readable(socket_.get(), limit(), stop));
        }
    }

private:
    os::Fd socket_;
};

}  // namespace

std::unique_ptr<Wire> make_plain_wire(os::Fd socket)
{
    return std::make_unique<PlainWire>(std::move(socket));
}

}  // namespace ponk::net

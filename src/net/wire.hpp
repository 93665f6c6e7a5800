// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "os/fd.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>

namespace ponk::net {

// When to give up; asked before each wait, so that a stream can move its limit.
using Limit = std::function<Deadline()>;

// A client's connection, as bytes. Not for use from several threads. `unavailable`: it broke, and
// the message says when.
class Wire {
public:
    virtual ~Wire() = default;

    // Takes some of the bytes, at least one.
    virtual Result<std::size_t>
    send(std::string_view bytes, const Limit& limit, const std::stop_token& stop) = 0;
    // Puts at least one byte into the room; 0: the stream has ended.
    virtual Result<std::size_t>
    receive(char* room, std::size_t size, const Limit& limit, const std::stop_token& stop) = 0;
};

// Opens a connection; `unavailable` when nothing listens there.
using Dial =
    std::function<Result<std::unique_ptr<Wire>>(const Limit& limit, const std::stop_token& stop)>;

// The bytes of a connected socket as they are.
std::unique_ptr<Wire> make_plain_wire(os::Fd socket);

}  // namespace ponk::net

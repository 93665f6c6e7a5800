// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "net/message.hpp"
#include "os/file.hpp"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace ponk::net {

struct Reply {
    int status = 0;
    Headers headers;
    std::string body;  // empty when a sink took it
};

// An HTTP/1.1 client on a Unix socket. One call at a time; the connection is kept between calls and
// made anew when it broke. Every call ends by its deadline. Not for use from several threads.
class Client {
public:
    explicit Client(os::Path socket);
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    // `unavailable` when nobody listens or the connection breaks.
    Result<Reply> call(std::string_view method,
                       const std::string& target,
                       const std::string& body,
                       Deadline deadline,
                       std::stop_token stop = {});

    // Gives the bytes of a successful answer to `sink` as they come (false ends the call early).
    // `quiet_limit` bounds the time without a byte; 0 means until stopped.
    using Sink = std::function<bool(std::string_view bytes)>;
    Result<Reply> stream(const std::string& target,
                         const Sink& sink,
                         std::chrono::milliseconds quiet_limit,
                         std::stop_token stop = {});

    // `call` with JSON on both sides; an error answer becomes the Error that the daemon meant.
    Result<Json> json(std::string_view method,
                      const std::string& target,
                      const Json& body,
                      Deadline deadline,
                      std::stop_token stop = {});

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The error that an answer with a failure status carries.
Error error_of(const Reply& reply);

}  // namespace ponk::net

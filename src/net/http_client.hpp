// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "net/message.hpp"
#include "net/wire.hpp"
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

struct Call {
    std::string method = "GET";
    std::string target;
    Headers headers;
    std::string body;
    // Instead of `body`, for what is made while it is sent: appends the next bytes, or nothing at
    // the end.
    std::function<Result<>(std::string& out)> source = {};
};

// Takes the bytes of an answer as they come; false ends the call early.
using Sink = std::function<bool(std::string_view bytes)>;
Limit until(Deadline deadline);
// Gives up when nothing moved for so long; 0 means never.
Limit while_moving(std::chrono::milliseconds quiet_limit);

// An HTTP/1.1 client. One call at a time; the connection is kept between calls and
// opened again when it broke. Not for use from several threads.
class HttpClient {
public:
    // `peer` is how errors name the other side: "the daemon".
    HttpClient(os::Path socket, std::string peer);
    HttpClient(Dial dial, std::string peer);
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    // `unavailable` when nobody listens or the connection breaks. `sink` gets the bytes of an
    // answer below 400; without one they are in the reply.
    Result<Reply>
    exchange(const Call& call, const Sink& sink, const Limit& limit, std::stop_token stop);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ponk::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "net/http_client.hpp"
#include "os/file.hpp"

#include <stop_token>
#include <string>
#include <string_view>

namespace ponk::net {

// The daemon's API as a client sees it. Every call ends by its deadline. Not for use from several
// threads.
class Client {
public:
    explicit Client(os::Path socket);
    // A server elsewhere. `peer` is how errors name it; every request has these headers besides.
    Client(Dial dial, std::string peer, std::string host, Headers headers);

    // `unavailable` when nobody listens or the connection breaks.
    Result<Reply> call(std::string_view method,
                       const std::string& target,
                       const std::string& body,
                       Deadline deadline,
                       std::stop_token stop = {});

    // Gives the bytes of a successful answer to `sink` as they come (false ends the call early).
    // `quiet_limit` bounds the time without a byte; 0 means until stopped.
    using Sink = net::Sink;
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
    [[nodiscard]] Headers headers() const;

    std::string peer_;
    HttpClient http_;
    Headers headers_;
};

// The error that an answer with a failure status carries.
Error error_of(const Reply& reply, std::string_view peer = "the daemon");

}  // namespace ponk::net

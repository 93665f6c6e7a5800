// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::bench {

// A kept-alive HTTP connection to a loopback port that costs next to nothing: one write for a
// request, and as few reads as the answer allows, so that a server is measured and not its client.
class HttpConnection {
public:
    static Result<HttpConnection> open(std::uint16_t port, const std::string& token);

    struct Answer {
        int status = 0;
        std::string_view body;  // until the next call
    };
    Result<Answer> post(std::string_view target, std::string_view body);

private:
    HttpConnection(os::Fd socket, const std::string& port, const std::string& token);
    Result<> send_all(std::string_view bytes);
    // Makes `received_` have `size` bytes at least.
    Result<> receive(std::size_t size);
    Result<std::size_t> head_end();

    os::Fd socket_;
    std::string fixed_;     // header lines that are the same each time
    std::string request_;   // kept for its memory
    std::string received_;  // of the current answer
};

}  // namespace ponk::bench

// SPDX-License-Identifier: Apache-2.0
#include "net/answer.hpp"

#include "base/version.hpp"

#include <boost/beast/http/status.hpp>
#include <fmt/format.h>

namespace ponk::net {

std::string head_of(const Response& response, Framing framing, std::uint64_t size, bool keep_alive)
{
    const auto reason = boost::beast::http::obsolete_reason(
        static_cast<boost::beast::http::status>(response.status));
    auto head = fmt::format(
        "HTTP/1.1 {} {}\r\n", response.status, std::string_view(reason.data(), reason.size()));
    if (!response.type.empty()) head += fmt::format("Content-Type: {}\r\n", response.type);
    head += fmt::format("Ponk-Version: {}\r\n", own_version());
    for (const auto& [name, value] : response.headers) {
        head += name;
        head += ": ";
        head += value;
        head += "\r\n";
    }
    if (framing == Framing::chunks) head += "Transfer-Encoding: chunked\r\n";
    if (framing == Framing::length) head += fmt::format("Content-Length: {}\r\n", size);
    if (!keep_alive) head += "Connection: close\r\n";
    head += "\r\n";
    return head;
}

}  // namespace ponk::net

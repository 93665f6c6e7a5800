// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/server_test_support.hpp"

#include <string>
#include <string_view>

namespace ponk::net {

enum class Last { yes, no };

// A frame as clients send it, with a mask. `kind` is its first byte without the bit of the last.
inline std::string client_frame(unsigned kind, std::string_view content, Last last = Last::yes)
{
    std::string bytes;
    bytes += static_cast<char>(kind | (last == Last::yes ? 0x80U : 0U));
    if (content.size() < 126) {
        bytes += static_cast<char>(0x80U | content.size());
    } else {
        bytes += static_cast<char>(0xff);
        for (int shift = 56; shift >= 0; shift -= 8)
            bytes += static_cast<char>(content.size() >> shift & 0xff);
    }
    const std::string mask = "\x11\x22\x33\x44";
    bytes += mask;
    for (std::size_t at = 0; at < content.size(); ++at)
        bytes += static_cast<char>(content[at] ^ mask[at % 4]);
    return bytes;
}

inline std::string client_text(std::string_view text)
{
    return client_frame(1, text);
}

// The frame of a server with this text, for `receive_until`.
inline std::string server_text(std::string_view text)
{
    std::string bytes = "\x81";
    bytes += static_cast<char>(text.size());
    bytes += text;
    return bytes;
}

inline const std::string upgrade =
    "GET /live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

}  // namespace ponk::net

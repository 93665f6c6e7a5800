// SPDX-License-Identifier: Apache-2.0
#include "net/web_socket.hpp"

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace ponk::net {

namespace {

// RFC 6455, 1.3: proves that who answers has read the question as one for a WebSocket.
constexpr std::string_view proof = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t key_size = 16;

bool lists(const std::string& header, std::string_view word)
{
    const auto parts = split(header, ',');
    return std::any_of(parts.begin(), parts.end(), [word](std::string_view part) {
        return same_ignoring_case(trim(part), word);
    });
}

Response refusal(int status, std::string message, std::string hint)
{
    auto response = error_response(
        Error(ErrorKind::invalid_argument, std::move(message), std::move(hint)), status);
    if (status == 426) {
        response.headers.emplace_back("Upgrade", "websocket");
        response.headers.emplace_back("Sec-WebSocket-Version", "13");
    }
    return response;
}

}  // namespace

Response begin_web_socket(const Request& request, std::unique_ptr<Dialogue> dialogue)
{
    if (request.method != "GET" || !lists(request.header("Upgrade"), "websocket") ||
        !lists(request.header("Connection"), "upgrade")) {
        return refusal(426,
                       "this address speaks as a WebSocket only",
                       "A proxy in between may not pass the headers 'Upgrade' and 'Connection'.");
    }
    if (request.header("Sec-WebSocket-Version") != "13")
        return refusal(426, "only version 13 of WebSockets is spoken here", "");
    const auto key = request.header("Sec-WebSocket-Key");
    const auto bytes = from_base64(key);
    if (!bytes || bytes->size() != key_size)
        return refusal(400, "'Sec-WebSocket-Key' must be 16 bytes in Base64", "");
    const auto digest = sha1(key + std::string(proof));
    Response response;
    response.status = 101;
    response.type.clear();
    response.headers = {{"Upgrade", "websocket"},
                        {"Connection", "Upgrade"},
                        {"Sec-WebSocket-Accept",
                         to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()})}};
    response.dialogue = std::move(dialogue);
    return response;
}

}  // namespace ponk::net

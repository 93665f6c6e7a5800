// SPDX-License-Identifier: Apache-2.0
#include "relay/forward.hpp"

#include "base/text.hpp"
#include "mlflow/error.hpp"
#include "os/socket.hpp"

#include <array>

namespace ponk::relay {

namespace {

constexpr std::array<std::string_view, 6> passed_on{
    "Content-Type", "Range", "Accept", "User-Agent", "X-MLflow-Client-Version", "If-None-Match"};

std::string head_for_daemon(const Head& head, std::string_view text, const Body* body)
{
    auto out = fmt::format(
        "{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", head.method, head.target);
    for (const auto& [name, value] : head.headers) {
        for (const auto wanted : passed_on) {
            if (same_ignoring_case(name, wanted)) out += name + ": " + value + "\r\n";
        }
    }
    if (body && head.chunked) {
        out += "Transfer-Encoding: chunked\r\n";
    } else {
        out += fmt::format("Content-Length: {}\r\n", body ? head.length : text.size());
    }
    return out + "\r\n";
}

Result<> send_body(const Head& head, Body& body, Stream& daemon)
{
    for (;;) {
        const auto piece = TRY(body.next());
        if (head.chunked) {
            TRY(daemon.send(fmt::format("{:x}\r\n", piece.size()) + piece + "\r\n"));
        } else if (!piece.empty()) {
            TRY(daemon.send(piece));
        }
        if (piece.empty()) return {};
    }
}

Result<> exchange(const std::string& socket,
                  const Head& head,
                  std::string_view text,
                  Body* body,
                  Stream& client,
                  bool& answered)
{
    Stream daemon(TRY(os::connect_unix(socket)));
    TRY(daemon.send(head_for_daemon(head, text, body)));
    TRY(body ? send_body(head, *body, daemon) : daemon.send(text));
    for (;;) {
        const auto piece = TRY(daemon.read_some(std::size_t{64} << 10));
        if (piece.empty()) break;
        answered = true;
        TRY(client.send(piece));
    }
    if (!answered) return fail(ErrorKind::unavailable, "the daemon ended without an answer");
    return {};
}

bool refuse(const net::Response& response, const Head& head, Body* body, Stream& client)
{
    const bool goes_on = (!body || body->skip()) && head.keep_alive;
    const auto text = response_head(response, goes_on, response.body.size()) + response.body;
    return client.send(text) && goes_on;
}

}  // namespace

bool forward(
    const std::string& socket, const Head& head, std::string_view text, Body* body, Stream& client)
{
    if (socket.empty()) {
        // No status that clients repeat for minutes: it will not change during the run.
        return refuse(mlflow::refuse(501,
                                     mlflow::not_implemented,
                                     "This call needs the ponk daemon, which cannot be reached "
                                     "from inside this run; calls about the run itself work"),
                      head,
                      body,
                      client);
    }
    bool answered = false;
    const auto done = exchange(socket, head, text, body, client, answered);
    if (done || answered) return false;  // it ends with the daemon's connection
    return refuse(mlflow::refuse(Error(ErrorKind::unavailable,
                                       "This call needs the ponk daemon: " + done.error().message(),
                                       "Calls about the run itself work without it.")),
                  head,
                  body,
                  client);
}

}  // namespace ponk::relay

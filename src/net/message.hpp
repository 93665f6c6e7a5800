// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

// The way a request came in: the owner's own socket, a port that only this machine reaches, or an
// address that others reach.
enum class ListenerKind { unix_socket, loopback, network };

// What a handler sees of a call. `path` is split and decoded: one element per segment.
struct Request {
    std::string method;
    std::vector<std::string> path;
    std::vector<std::pair<std::string, std::string>> query;
    Headers headers;
    std::string body;
    ListenerKind listener_kind = ListenerKind::unix_socket;
    std::string peer = {};  // "127.0.0.1"; empty on the Unix socket

    [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
    [[nodiscard]] std::string header(std::string_view name) const;
};

// A body that is made while it is sent. All calls come one at a time. `next` is called on workers
// within the request's `WorkScope`: it may read files and the database, but a call is one bounded
// piece of work, so that many bodies share few threads. The rest is called on I/O threads and must
// not block.
class BodySource {
public:
    // broken: the rest cannot be had; the connection is cut, so that nobody takes a part for all.
    // no_room: `charge_answer` refused the next bytes; nothing was appended, and the server asks
    // again when there is room for them.
    enum class Step { data, waiting, end, broken, no_room };

    virtual ~BodySource() = default;

    // `ring` may be called from any thread, also after the source is gone; it makes the server ask
    // again after a `waiting`.
    virtual void attach(std::function<void()> ring) = 0;
    // Appends the next bytes to `out` and says what comes. `data` without bytes: there is more to
    // do before any can be given; others have their turn meanwhile. A piece that may have more than
    // about 256 KiB is charged with `charge_answer` before it is made.
    virtual Step next(std::string& out) = 0;
    // After a `waiting` the server asks again after this long, rung or not.
    [[nodiscard]] virtual std::chrono::milliseconds patience() const
    {
        return std::chrono::seconds(30);
    }
};

// The server's side of a WebSocket. All calls come one at a time, on workers within a `WorkScope`
// of their own, and may block for a bounded piece of work; `attach` and `client` must not.
class Dialogue {
public:
    // end: the connection is closed with `closing()`.
    enum class Step { waiting, message, end };
    // A code of RFC 6455, 7.4, and a reason in at most 120 bytes.
    struct Closing {
        int code = 1000;
        std::string reason;
    };

    virtual ~Dialogue() = default;

    // `ring` may be called from any thread, also after this is gone; it makes the server ask
    // `next`.
    virtual void attach(std::function<void()> ring) = 0;
    // A whole message of the client, UTF-8.
    virtual void take(std::string_view message) = 0;
    // Appends the next message to `out`. Asked again when that was written, so who is slow in
    // reading hears of fewer and newer things: what waits for them is one message, never more.
    virtual Step next(std::string& out) = 0;
    // After a `waiting` it is asked again after this long, rung or not.
    [[nodiscard]] virtual std::chrono::milliseconds patience() const = 0;
    // Whose connection it is, once that is known; until then it gives way to newcomers.
    [[nodiscard]] virtual std::string client() const = 0;
    [[nodiscard]] virtual Closing closing() const = 0;
};

struct Response {
    int status = 200;
    std::string type = "application/json";
    Headers headers;
    std::string body;
    std::unique_ptr<BodySource> stream;  // instead of `body`
    // Bytes that `stream` gives in all: the answer then has a Content-Length. A source that ends
    // before, or has more, breaks the connection. Absent: chunks.
    std::optional<std::uint64_t> stream_size = {};
    // What comes behind a 101, see `begin_web_socket`.
    std::unique_ptr<Dialogue> dialogue = {};
};

// Takes a request's body while it comes, so that its size costs no memory. All calls come one at a
// time, on workers within the request's `WorkScope`, and may block; no more is read from the client
// while one lasts.
class BodySink {
public:
    // Whatever happened, this is the last that a sink sees.
    virtual ~BodySink() = default;

    // Before the first byte, when the client asks whether to send any. An answer is what it hears
    // instead of a yes.
    virtual std::optional<Response> open() { return std::nullopt; }
    // The next bytes, never empty. An answer ends the request there: the rest of the body is not
    // read, nothing else is called, and the connection is closed behind the answer.
    virtual std::optional<Response> write(std::string_view bytes) = 0;
    // The body was complete. Without a `write` before it when it is empty.
    virtual Response finish() = 0;
    // The rest will not come: the client went away, was too slow, or sent what is no HTTP.
    virtual void abort() noexcept {}
};

Response json_response(const Json& value, int status = 200);
Response error_response(const Error& error);
// With another status than that of the error's kind.
Response error_response(const Error& error, int status);
int status_of(ErrorKind kind);

}  // namespace ponk::net

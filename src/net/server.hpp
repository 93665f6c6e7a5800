// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"
#include "os/fd.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::net {

class Tls;

// Called on a worker thread within the request's `WorkScope`, may block; exceptions become a 500.
using Handler = std::function<Response(const Request&)>;

// Gives the answer, from any thread, once.
using Respond = std::function<void(Response)>;

// What becomes of a request, decided when its head is there and nothing of its body was read.
struct Reception {
    // Refuses it now, say because a token is missing: its body is not read.
    std::optional<Response> answer = {};
    // Takes the body as a stream; `finish` makes the answer and the handler is not called.
    std::unique_ptr<BodySink> sink = {};
    // Else the whole body is read for the handler, when it has at most so many bytes.
    std::size_t body_limit = std::size_t{16} << 20;
    // Takes the request on without a thread that waits. Called with the whole body, on an I/O
    // thread unless the body is large or the client a heavy one: must not block. True: `respond` is
    // called, later or at once. False: the handler is asked as ever, and `respond` is not called.
    std::function<bool(const Request&, const Respond& respond)> begin = {};
    // Slow ones wait for something else, say a disk, and never have all workers at once. `compute`
    // is for those that keep a processor busy, and `piece`, the server's own, for pieces of bodies:
    // both together leave a processor to others, where there are several. `receive`, the server's
    // own too, is for handshakes and bytes that come in: these do not wait for what computes long,
    // and leave a processor free themselves.
    enum class Pace { quick, slow, piece, compute, receive } pace = Pace::quick;
    static constexpr std::size_t paces = 5;
    // Whose request it is, say a token: clients share the server evenly. Empty: the address
    // decides. All requests by the Unix socket are the owner's.
    std::string client = {};
    // How long it may take from when it was read; nothing: as the server's options say.
    std::optional<std::chrono::milliseconds> time_limit = {};
};
// Called on an I/O thread with a request whose body is still empty: must not block, so a sink opens
// its files at the first call that it gets.
using Receiver = std::function<Reception(const Request& head)>;

// How an error is told that the server itself finds. `target` is the request's address as it was
// sent, empty when there was none.
using ErrorShape = std::function<Response(std::string_view target, const Error& error, int status)>;

struct Handlers {
    Handler answer;
    Receiver receive = {};        // none: every body is read whole
    ErrorShape error_shape = {};  // none: error_response
};

struct ServerOptions {
    std::size_t io_threads = 2;  // and one more for Unix sockets, where there are any
    std::size_t workers = 12;    // and one more for quick requests by Unix sockets
    std::size_t connection_limit = 12'000;
    // From one address; not for Unix sockets. When there is no room for a newcomer, the connection
    // that has waited longest for its next request gives way.
    std::size_t peer_limit = 2'000;
    // All bodies that are in memory together; beyond, 503 with Retry-After.
    std::size_t body_budget = std::size_t{256} << 20;
    // All answers of some size that wait for those who asked to read them; beyond, the same. One
    // that is larger alone can never be given: 400.
    std::size_t answer_budget = std::size_t{256} << 20;
    // Of both, what one client may have; not for the owner.
    std::size_t client_budget = std::size_t{128} << 20;
    // How long a streamed answer waits for that room before each of its pieces.
    std::chrono::milliseconds room_timeout{60'000};
    // An answer that is made whole: what makes it is stopped beyond.
    std::size_t answer_limit = std::size_t{128} << 20;
    // Requests of one client that are not answered yet; beyond, 429 with Retry-After. Not for the
    // owner.
    std::size_t call_limit = 512;
    // For the work of a request, and of each piece of a body.
    std::chrono::milliseconds work_limit{60'000};
    // How often it is seen whether the client of a request that is worked on is still there, and
    // how long one that sends no more may wait for its answer.
    std::chrono::milliseconds watch_interval{500};
    std::chrono::milliseconds half_closed_limit{2'000};
    // For a connection's first byte, for a request's body (of a stream: for each 64 KiB) and for
    // each piece of an answer.
    std::chrono::milliseconds request_timeout{60'000};
    // For a request's head, from its first byte on, and for the greeting of TLS.
    std::chrono::milliseconds head_timeout{10'000};
    // Between requests.
    std::chrono::milliseconds idle_timeout{600'000};
    // WebSockets: a message of the client, all its frames together; how often a ping is sent; and
    // how long nothing may be heard of the client before it counts as gone.
    std::size_t message_limit = std::size_t{16} << 10;
    std::chrono::milliseconds ping_interval{20'000};
    std::chrono::milliseconds silence_limit{50'000};
    // Between the two closes of one, and for the farewells when the server ends.
    std::chrono::milliseconds close_limit{5'000};
    std::chrono::milliseconds farewell_limit{300};
};

// A listening socket and how those are seen who come through it.
struct Listener {
    os::Fd socket;
    ListenerKind listener_kind = ListenerKind::unix_socket;
    std::shared_ptr<Tls> tls = {};                                  // none: plain HTTP
    enum class Plain { refused, accepted } plain = Plain::refused;  // beside TLS
};

// An HTTP/1.1 server on any number of listening sockets: an event loop on a few threads, so that
// thousands of log followers cost a descriptor each and no thread; handlers and pieces of bodies
// run on a fixed pool, which clients share evenly. The work of a request ends with its connection
// and at its deadline. The owner's Unix socket has a thread of each kind for itself.
class Server {
public:
    Server(std::vector<Listener> listeners, Handlers handlers, ServerOptions options = {});
    // One Unix socket.
    Server(os::Fd listener, Handler handler, ServerOptions options = {});
    // Stops accepting, drops all connections and joins the threads.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::size_t open_connections() const;
    // Requests answered so far; tells an idle daemon from a busy one.
    [[nodiscard]] std::uint64_t requests_served() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ponk::net

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/work_budget.hpp"
#include "net/answer.hpp"
#include "net/connection.hpp"
#include "net/request_reader.hpp"
#include "net/socket_side.hpp"

#include <boost/asio/steady_timer.hpp>

#include <optional>
#include <utility>

// Inside net/ only: this header pulls in Asio and Beast.
namespace ponk::net {

// A part of the memory that all connections share, and of the client's share of it.
class Part {
public:
    Part() = default;
    ~Part() { release(); }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    struct Share {
        std::atomic<std::size_t>& used;
        std::size_t budget;
    };
    // False when all together, or all of the client, would be too large.
    bool hold(std::size_t bytes, const Share& all, const Share& of_client)
    {
        if (bytes <= held_) return true;
        const auto more = bytes - held_;
        if (!add(more, all)) return false;
        if (!add(more, of_client)) {
            all.used -= more;
            return false;
        }
        all_ = &all.used;
        of_client_ = &of_client.used;
        held_ = bytes;
        return true;
    }

    void release() { shrink(0); }
    void shrink(std::size_t bytes)
    {
        if (bytes >= held_) return;
        const auto less = std::exchange(held_, bytes) - bytes;
        *all_ -= less;
        *of_client_ -= less;
    }

private:
    static bool add(std::size_t bytes, const Share& account)
    {
        if (account.used.fetch_add(bytes) + bytes <= account.budget) return true;
        account.used -= bytes;
        return false;
    }

    std::atomic<std::size_t>* all_ = nullptr;
    std::atomic<std::size_t>* of_client_ = nullptr;
    std::size_t held_ = 0;
};

// What there is room for of a body at first, and of one that is streamed.
inline constexpr std::size_t body_room = 256 * 1024;
// Larger bodies are received and understood on workers: an I/O thread has others to serve.
inline constexpr std::size_t large_for_io = 256 * 1024;
// Answers up to this size, and pieces of streams, are not counted: what was done is always told.
inline constexpr std::size_t small_answer = 64 * 1024;
// A part of the memory for answers, for this client.
bool hold_answer_of(Account& client, Shared& shared, Part& part, std::size_t bytes);
// What one answer, or piece of a stream, may have when nobody else has any.
std::size_t most_for_answer(const Account& client, const ServerOptions& options);

// One of the calls in flight of its client, from when its request is there until the whole answer
// is sent, or waits for news.
class CountedCall {
public:
    CountedCall() = default;
    explicit CountedCall(std::shared_ptr<Account> client) : client_(std::move(client))
    {
        ++client_->calls;
    }
    ~CountedCall() { end(); }
    CountedCall(const CountedCall&) = delete;
    CountedCall& operator=(const CountedCall&) = delete;
    CountedCall(CountedCall&&) noexcept = default;
    CountedCall& operator=(CountedCall&& other) noexcept
    {
        std::swap(client_, other.client_);
        return *this;
    }

    void end()
    {
        if (const auto client = std::exchange(client_, nullptr)) --client->calls;
    }

private:
    std::shared_ptr<Account> client_;
};

// A request that is being read or answered, its part of the memory for bodies, and what its work
// may cost.
struct Work final : public AnswerMeter {
    explicit Work(std::shared_ptr<Shared> server) : shared(std::move(server)) {}
    ~Work() override = default;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    // Small answers are not counted.
    bool hold(std::size_t bytes) override;

    std::shared_ptr<Shared> shared;
    std::shared_ptr<Account> client = {};
    WorkBudget budget = {};
    std::chrono::milliseconds time_limit{0};
    CountedCall call = {};
    Request request;
    Part part;
    Part answer_part;  // of the memory for answers, while one is made
    std::size_t body_limit = 0;
    Reception::Pace pace = Reception::Pace::quick;
    std::function<bool(const Request&, const Respond&)> begin = {};
};

// A body that is being sent, and its part of the memory for answers: the piece that is made or
// waits to be read. A worker that makes a piece keeps it alive, and the strand leaves it alone.
struct Body final : public AnswerMeter {
    Body(std::shared_ptr<Shared> server,
         std::shared_ptr<Account> of,
         std::unique_ptr<BodySource> from)
        : shared(std::move(server)), client(std::move(of)), source(std::move(from))
    {
        budget.limit_answer(static_cast<std::size_t>(-1), this);
    }
    ~Body() override = default;
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

    // On a worker. Without room for a piece the step is `no_room`.
    void make_piece();
    // Counts what a source charges for the piece that it makes.
    bool hold(std::size_t total) override;
    // Whether there is room for the piece that there was none for.
    bool find_room() { return hold_answer_of(*client, *shared, part, need); }

    std::shared_ptr<Shared> shared;
    std::shared_ptr<Account> client;
    std::unique_ptr<BodySource> source;
    CountedCall call = {};
    WorkBudget budget = {};
    Part part = {};
    // The last piece, and what comes behind it.
    std::string piece = {};
    BodySource::Step step = BodySource::Step::data;
    std::size_t need = 0;       // room that must be there before the source is asked
    std::size_t too_large = 0;  // the size of a piece that there is no room for
    bool large = false;         // the last piece was counted
    bool begun = false;         // something of the answer was sent
    std::size_t charged = 0;    // by the source, all pieces together
    std::size_t charged_before = 0;
    // When the wait for room ends.
    std::optional<WorkBudget::Clock::time_point> patience = {};
};

// One connection. Everything happens on the strand of its transport, but what is said to run on a
// worker. It lives as long as one of its operations is pending.
class Connection final : public CountedConnection, public std::enable_shared_from_this<Connection> {
public:
    Connection(std::unique_ptr<Transport> transport,
               ListenerKind listener_kind,
               std::string peer,
               std::shared_ptr<Shared> shared);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void start();
    void give_way() override;
    void say_goodbye() override;

private:
    using Next = void (Connection::*)();

    // connection_read.cpp: the request
    void wait_for_request();
    void read_head();
    void take_request();
    Reception receive_by_handler(const Request& request);
    void find_client(const std::string& named);
    bool hold_body(std::size_t bytes);
    void answer_expectation();
    void send_100_continue();
    void receive(std::size_t room, Next next);
    void pause_for(std::chrono::milliseconds pause, std::function<void(Connection&)> next);
    void ended_early();
    void stop_waiting();

    // connection_request_body.cpp
    void begin_body();
    void read_body();
    RequestReader::Step parse_body();
    void take_body(RequestReader::Step step);
    void take_stream(RequestReader::Step step);
    void receive_body();
    struct Received {
        std::size_t bytes = 0;
        RequestReader::Step step = RequestReader::Step::more;
    };
    void wait_for_large();
    void receive_large();
    Received receive_now();
    void charge_body();
    using Feeding = std::optional<Response> (Connection::*)();
    void feed(Feeding feeding, Next next);
    std::optional<Response> open_sink() { return sink_->open(); }
    std::optional<Response> write_piece();
    std::optional<Response> write_last_piece();
    void refuse_problem();
    void refuse_large();
    void refuse_busy();
    Response busy(const char* why) const;
    void drop_sink();

    // connection_write.cpp: the answer
    void dispatch();
    bool begin(Work& work);
    void begin_or_handle(std::shared_ptr<Work> work);
    void post_answer(Response response);
    Response handle(const Work& work);
    bool count_call();
    Response too_many_calls() const;
    bool hold_answer(std::size_t bytes);
    Response refuse_answer(std::size_t bytes) const;
    void refuse(const Error& error, int status);
    void answer(Response response);
    void send(Response response);
    void send_head(Response& response);
    void write(Next next);
    void finish();
    void discard(std::size_t so_far);
    void discard_more(std::size_t so_far);

    // connection_body.cpp: an answer that is streamed
    void begin_stream(std::unique_ptr<BodySource> source, CountedCall call);
    void pump();
    void pumped();
    void sent_piece();
    void wait_for_room();
    void give_up_stream(Response why);
    bool count(bool last);
    void rung();
    void watch_for_close();

    // connection_socket.cpp: a WebSocket
    void open_socket(Response response);
    void begin_socket();
    void hear();
    void read_frames();
    void take_turn();
    void turned();
    void answer_turn();
    void send_frames();
    void write_out(void (*then)(Connection&));
    void sent_frames();
    void end_socket(const Dialogue::Closing& closing);
    void set_socket_alarm();
    void on_socket_alarm();
    void leave_socket();

    // connection.cpp: beginning and end
    using Clock = std::chrono::steady_clock;
    void guard(std::chrono::milliseconds limit) { guard_until(Clock::now() + limit); }
    void guard_until(Clock::time_point deadline);
    void relax() { deadline_ = Clock::time_point::max(); }
    void set_alarm();
    void on_alarm();
    void begin_work();
    void end_work();
    void look_after_client();
    void compute_for_stranger(std::function<void()> job, std::function<void()> next);
    void lend(std::function<void()> job, std::function<void()> next);
    enum class Peer { there, half_closed, gone };
    Peer peer_state();
    void close();

    std::unique_ptr<Transport> transport_;
    boost::asio::steady_timer timer_;
    boost::asio::steady_timer pause_;                        // before more is read, or made
    Clock::time_point deadline_ = Clock::time_point::max();  // of the current step
    Clock::time_point alarm_ = Clock::time_point::max();     // when the timer looks at it next
    ListenerKind listener_kind_;
    std::string peer_;
    std::shared_ptr<Shared> shared_;
    ConnectionTable::Place place_;
    ConnectionTable::Place::iterator at_;
    RequestReader reader_;
    std::shared_ptr<Work> work_;
    std::unique_ptr<BodySink> sink_;
    std::string piece_;           // of a body that is streamed
    std::uint64_t received_ = 0;  // of the body, and not charged yet
    std::uint64_t charged_frames_ = 0;
    std::shared_ptr<Body> body_;
    std::unique_ptr<SocketSide> socket_;
    Framing framing_ = Framing::length;
    std::uint64_t left_ = 0;           // of an answer with a length
    std::shared_ptr<Account> client_;  // of the last request
    std::string client_name_;
    Part part_;  // of the memory for answers
    // What is written next, one behind the other.
    std::string out_;
    std::string chunk_;  // of a stream
    std::string tail_;
    bool keep_alive_ = true;
    bool unread_ = false;   // bytes of the request are still to come
    bool waits_ = false;    // for the head of a request
    bool partly_ = false;   // it has begun to come
    bool feeding_ = false;  // a worker has the sink
    bool lent_ = false;     // a worker has the transport
    bool closing_ = false;  // as soon as it is given back
    bool closed_ = false;
    bool served_any_ = false;
    bool working_ = false;  // a worker has the request, or the body
    bool waiting_ = false;  // for the body's source to ring
    bool rung_ = false;     // while a piece was made
    bool watching_ = false;
    bool leaving_ = false;  // the client sends no more, and the deadline was brought forward
};

}  // namespace ponk::net

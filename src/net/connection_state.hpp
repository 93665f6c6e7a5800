// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/work_budget.hpp"
#include "net/answer.hpp"
#include "net/connection.hpp"
#include "net/request_reader.hpp"

#include <boost/asio/steady_timer.hpp>

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

    void release()
    {
        const auto bytes = std::exchange(held_, 0);
        if (bytes == 0) return;
        *all_ -= bytes;
        *of_client_ -= bytes;
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

// A request that is being read or answered, its part of the memory for bodies, and what its work
// may cost.
struct Work final : public AnswerMeter {
    explicit Work(std::shared_ptr<Shared> server) : shared(std::move(server)) {}
    ~Work() override
    {
        if (counted) --client->calls;
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    // Small answers are not counted.
    bool hold(std::size_t bytes) override;

    std::shared_ptr<Shared> shared;
    std::shared_ptr<Account> client = {};
    WorkBudget budget = {};
    std::chrono::milliseconds time_limit{0};
    bool counted = false;  // among the client's calls
    Request request;
    Part part;
    Part answer_part;  // of the memory for answers, while one is made
    std::size_t body_limit = 0;
    Reception::Pace pace = Reception::Pace::quick;
    std::function<bool(const Request&, const Respond&)> begin = {};
};

// A body that is being sent. A worker that makes a piece of it keeps it alive.
struct Body {
    std::unique_ptr<BodySource> source;
    WorkBudget budget = {};
    // The last piece, and what comes behind it.
    std::string piece = {};
    BodySource::Step step = BodySource::Step::data;

    // On a worker.
    void make_piece();
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
    void begin_body();
    void read_body();
    void read_stream();
    using Feeding = std::optional<Response> (Connection::*)();
    void feed(Feeding feeding, Next next);
    std::optional<Response> open_sink() { return sink_->open(); }
    std::optional<Response> write_piece();
    std::optional<Response> write_last_piece();
    void receive(std::size_t room, Next next);
    void ended_early();
    void stop_waiting();
    void refuse_problem();
    void refuse_large();
    void refuse_busy();
    Response busy(const char* why) const;
    void drop_sink();

    // connection_write.cpp: the answer
    void dispatch();
    bool begin();
    void post_answer(Response response);
    Response handle(const Work& work);
    bool count_call();
    Response too_many_calls() const;
    bool hold_answer(std::size_t bytes);
    Response refuse_answer(std::size_t bytes) const;
    void refuse(const Error& error, int status);
    void answer(Response response);
    void send(Response response);
    void write(Next next);
    void finish();
    void discard(std::size_t so_far);

    // connection_body.cpp: an answer that is streamed
    void begin_stream(std::unique_ptr<BodySource> source);
    void pump();
    void pumped();
    bool count(bool last);
    void rung();
    void watch_for_close();

    // connection.cpp: beginning and end
    using Clock = std::chrono::steady_clock;
    void guard(std::chrono::milliseconds limit);
    void relax() { deadline_ = Clock::time_point::max(); }
    void set_alarm();
    void on_alarm();
    void begin_work();
    void end_work();
    void look_after_client();
    enum class Peer { there, half_closed, gone };
    Peer peer_state();
    void close();

    std::unique_ptr<Transport> transport_;
    boost::asio::steady_timer timer_;
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
    std::string piece_;  // of a body that is streamed
    std::shared_ptr<Body> body_;
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
    bool closed_ = false;
    bool served_any_ = false;
    bool working_ = false;  // a worker has the request, or the body
    bool waiting_ = false;  // for the body's source to ring
    bool rung_ = false;     // while a piece was made
    bool watching_ = false;
    bool leaving_ = false;  // the client sends no more, and the deadline was brought forward
};

}  // namespace ponk::net

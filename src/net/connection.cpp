// SPDX-License-Identifier: Apache-2.0
#include "net/connection.hpp"

#include "base/text.hpp"
#include "net/answer.hpp"
#include "net/request_reader.hpp"
#include "net/target.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <exception>
#include <sys/socket.h>

namespace ponk::net {

namespace {

namespace asio = boost::asio;
using Step = RequestReader::Step;

constexpr std::size_t head_room = 4 * 1024;
constexpr std::size_t body_room = 256 * 1024;
// A source is asked again before writing until it has given so much.
constexpr std::size_t enough_to_send = 64 * 1024;
// A stream that comes slower than this within the time for a body is given up.
constexpr std::size_t enough_to_receive = 64 * 1024;
// What is read and thrown away of a request that was refused, so that its sender sees the answer.
constexpr std::size_t linger_bytes = std::size_t{16} << 20;
constexpr std::chrono::seconds linger_time{5};

// A request that is being read or answered, and its part of the memory for bodies.
struct Work {
    explicit Work(std::shared_ptr<Shared> server) : shared(std::move(server)) {}
    ~Work() { shared->body_bytes -= held; }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    // False when all bodies together would be too large.
    bool hold(std::size_t bytes)
    {
        if (bytes <= held) return true;
        const auto more = bytes - held;
        if (shared->body_bytes.fetch_add(more) + more > shared->options.body_budget) {
            shared->body_bytes -= more;
            return false;
        }
        held = bytes;
        return true;
    }

    std::shared_ptr<Shared> shared;
    Request request;
    std::size_t held = 0;
    std::size_t body_limit = 0;
    Reception::Pace pace = Reception::Pace::quick;
};

class Connection final : public Guest, public std::enable_shared_from_this<Connection> {
public:
    Connection(std::unique_ptr<Transport> transport,
               Door door,
               std::string peer,
               std::shared_ptr<Shared> shared)
        : transport_(std::move(transport)), timer_(transport_->executor()), door_(door),
          peer_(std::move(peer)), shared_(std::move(shared))
    {
    }
    ~Connection() override
    {
        if (sink_) sink_->abort();
        shared_->visitors.leave(peer_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void start()
    {
        place_.push_back({.guest = weak_from_this(), .peer = peer_});
        at_ = place_.begin();
        guard(shared_->options.head_timeout);
        transport_->greet([self = shared_from_this()](error_code problem, std::size_t) {
            if (problem) return self->close();
            self->wait_for_request();
        });
    }

    void give_way() override
    {
        asio::post(transport_->executor(), [self = shared_from_this()] {
            if (self->waits_) self->close();
        });
    }

private:
    // ---- reading

    void wait_for_request()
    {
        reader_.next_request();
        work_.reset();
        keep_alive_ = true;
        unread_ = false;
        shared_->visitors.wait(place_);
        waits_ = true;
        if (reader_.has_bytes()) {  // sent right behind the last one
            guard(shared_->options.head_timeout);
            return read_head();
        }
        guard(served_any_ ? shared_->options.idle_timeout : shared_->options.request_timeout);
        transport_->wait_readable([self = shared_from_this()](error_code problem, std::size_t) {
            if (problem) return self->close();
            self->receive(head_room, [](Connection& me) {
                // Once it has begun to come, a head must be there soon: who sends half of one
                // holds a connection for nothing.
                me.guard(me.shared_->options.head_timeout);
                me.read_head();
            });
        });
    }

    template <class Then>
    void receive(std::size_t room, Then then)
    {
        transport_->read_some(
            reader_.room(room),
            [self = shared_from_this(), then](error_code problem, std::size_t got) {
                if (self->closed_) return;
                if (problem == asio::error::eof) return self->ended_early();
                if (problem) return self->close();
                self->reader_.received(got);
                then(*self);
            });
    }

    // The other side sends no more; it may still want to hear what was wrong.
    void ended_early()
    {
        if (!reader_.has_begun()) return close();
        refuse(Error(ErrorKind::invalid_argument, "the request ended before it was complete"), 400);
    }

    void read_head()
    {
        const auto step = reader_.read_head();
        if (step == Step::more)
            return receive(head_room, [](Connection& self) { self.read_head(); });
        stop_waiting();
        if (step == Step::bad) {
            return refuse(Error(ErrorKind::invalid_argument, reader_.problem().text),
                          reader_.problem().status);
        }
        take_request();
    }

    void stop_waiting()
    {
        if (!waits_) return;
        waits_ = false;
        shared_->visitors.stop_waiting(place_, at_);
    }

    void take_request()
    {
        keep_alive_ = reader_.keep_alive();
        unread_ = !reader_.has_all();
        work_ = std::make_shared<Work>(shared_);
        auto& request = work_->request;
        request.method = std::string(reader_.method());
        request.headers = reader_.take_headers();
        request.door = door_;
        request.peer = peer_;
        auto target = parse_target(reader_.target());
        if (!target) return refuse(target.error(), 400);
        request.path = std::move(target->path);
        request.query = std::move(target->query);
        auto reception = receive_by_handler(request);
        if (reception.answer) return answer(std::move(*reception.answer));
        work_->pace = reception.pace;
        work_->body_limit = reception.body_limit;
        sink_ = std::move(reception.sink);
        if (!sink_ && reader_.body_size().value_or(0) > work_->body_limit) return refuse_large();
        if (!sink_ && !work_->hold(static_cast<std::size_t>(reader_.body_size().value_or(0))))
            return refuse_busy();
        if (!sink_) request.body.reserve(static_cast<std::size_t>(reader_.body_size().value_or(0)));
        guard(shared_->options.request_timeout);
        encourage();
    }

    Reception receive_by_handler(const Request& request)
    {
        if (!shared_->handlers.receive) return {};
        try {
            return shared_->handlers.receive(request);
        } catch (const std::exception& problem) {
            Reception failed;
            failed.answer =
                shared_->error(reader_.target(), Error(ErrorKind::internal, problem.what()), 500);
            return failed;
        }
    }

    // Who asked whether to send its body hears yes.
    void encourage()
    {
        const auto& wish = reader_.expectation();
        if (wish.empty() || reader_.is_old_http()) return read_body();
        if (!same_ignoring_case(wish, "100-continue")) {
            return refuse(Error(ErrorKind::invalid_argument,
                                "the expectation '" + printable(wish) + "' cannot be met"),
                          417);
        }
        if (reader_.has_bytes() || reader_.has_all()) return read_body();
        out_ = "HTTP/1.1 100 Continue\r\n\r\n";
        write([](Connection& self) {
            self.guard(self.shared_->options.request_timeout);
            self.read_body();
        });
    }

    void read_body()
    {
        if (sink_) return read_stream();
        auto& body = work_->request.body;
        // One byte more than allowed tells that it is too long.
        const auto step = reader_.read_body(body, work_->body_limit + 1 - body.size());
        if (body.size() > work_->body_limit) return refuse_large();
        if (!work_->hold(body.size())) return refuse_busy();
        if (step == Step::bad) {
            return refuse(Error(ErrorKind::invalid_argument, reader_.problem().text),
                          reader_.problem().status);
        }
        if (step == Step::ready) {
            unread_ = false;
            return dispatch();
        }
        receive(body_room, [](Connection& self) { self.read_body(); });
    }

    void refuse_large()
    {
        refuse(Error(ErrorKind::invalid_argument,
                     fmt::format("the request is too large: at most {} are taken here",
                                 byte_size_text(work_->body_limit))),
               413);
    }

    void refuse_busy()
    {
        auto response = shared_->error(reader_.target(),
                                       Error(ErrorKind::unavailable,
                                             "too many large requests at once",
                                             "Try again in a moment."),
                                       503);
        response.headers.emplace_back("Retry-After", "1");
        answer(std::move(response));
    }

    // ---- a body as a stream

    void read_stream()
    {
        const auto step = reader_.read_body(piece_, body_room - piece_.size());
        if (step == Step::bad) {
            return refuse(Error(ErrorKind::invalid_argument, reader_.problem().text),
                          reader_.problem().status);
        }
        if (step == Step::ready) unread_ = false;
        if (step == Step::more && piece_.size() < enough_to_receive)
            return receive(body_room, [](Connection& self) { self.read_stream(); });
        timer_.cancel();
        feeding_ = true;
        shared_->workers.run(
            Reception::Pace::quick,
            [self = shared_from_this(), last = step == Step::ready] { self->feed(last); });
    }

    // On a worker; the strand leaves sink and piece alone meanwhile.
    void feed(bool last)
    {
        std::optional<Response> response;
        try {
            if (!piece_.empty()) response = sink_->write(piece_);
            if (!response && last) response = sink_->finish();
        } catch (const std::exception& problem) {
            response =
                shared_->error(reader_.target(), Error(ErrorKind::internal, problem.what()), 500);
        }
        piece_.clear();
        if (response) sink_.reset();
        auto kept = std::make_shared<std::optional<Response>>(std::move(response));
        asio::post(transport_->executor(), [self = shared_from_this(), kept] {
            self->feeding_ = false;
            if (self->closed_) return self->drop_sink();
            if (*kept) return self->answer(std::move(**kept));
            self->guard(self->shared_->options.request_timeout);
            self->read_stream();
        });
    }

    // Tells the sink, where waiting hurts nobody.
    void drop_sink()
    {
        if (!sink_ || feeding_) return;
        const std::shared_ptr<BodySink> sink = std::move(sink_);
        shared_->workers.run(Reception::Pace::quick, [sink] { sink->abort(); });
    }

    // ---- answering

    void dispatch()
    {
        timer_.cancel();
        shared_->workers.run(work_->pace, [self = shared_from_this(), work = work_]() mutable {
            auto response = std::make_shared<Response>(self->handle(work->request));
            work.reset();
            asio::post(self->transport_->executor(), [self, response] {
                if (!self->closed_) self->send(std::move(*response));
            });
        });
    }

    Response handle(const Request& request)
    {
        try {
            return shared_->handlers.answer(request);
        } catch (const std::exception& problem) {
            return shared_->error(
                reader_.target(), Error(ErrorKind::internal, problem.what()), 500);
        }
    }

    void refuse(const Error& error, int status)
    {
        keep_alive_ = false;
        drop_sink();
        stop_waiting();
        send(shared_->error(reader_.target(), error, status));
    }

    // What is still to come of the request would be taken for the next one.
    void answer(Response response)
    {
        if (unread_) keep_alive_ = false;
        drop_sink();
        send(std::move(response));
    }

    void send(Response response)
    {
        ++shared_->served;
        served_any_ = true;
        work_.reset();  // who is slow in reading the answer holds no body
        const bool bare = response.status == 204 || response.status == 304;
        const bool head_only = bare || reader_.method() == "HEAD";
        framing_ = bare ? Framing::none : Framing::length;
        if (response.stream && !response.stream_size && !bare)
            framing_ = reader_.is_old_http() ? Framing::closing : Framing::chunks;
        if (framing_ == Framing::closing) keep_alive_ = false;
        left_ = response.stream ? response.stream_size.value_or(0) : response.body.size();
        out_ = head_of(response, framing_, left_, keep_alive_);
        source_ = head_only ? nullptr : std::move(response.stream);
        if (!source_) {
            if (!head_only) chunk_ = std::move(response.body);
            return write([](Connection& self) { self.finish(); });
        }
        source_->attach([weak = weak_from_this()] {
            if (const auto self = weak.lock())
                asio::post(self->transport_->executor(), [self] { self->rung(); });
        });
        pump();
    }

    template <class Then>
    void write(Then then)
    {
        guard(shared_->options.request_timeout);
        if (chunk_.size() < head_room) {  // in one piece: TLS makes a record of each
            out_ += chunk_;
            out_ += tail_;
            chunk_.clear();
            tail_.clear();
        }
        // In one call, and without copying a large chunk behind its head.
        transport_->write({asio::buffer(out_), asio::buffer(chunk_), asio::buffer(tail_)},
                          [self = shared_from_this(), then](error_code problem, std::size_t) {
                              if (self->closed_) return;
                              self->timer_.cancel();
                              if (problem) return self->close();
                              self->out_.clear();
                              self->chunk_.clear();
                              self->tail_.clear();
                              then(*self);
                          });
    }

    void finish()
    {
        source_.reset();
        if (keep_alive_) return wait_for_request();
        if (!unread_) return close();
        // Closing now would reset the connection, and the answer might be lost on the way.
        transport_->end_sending();
        guard(linger_time);
        discard(0);
    }

    void discard(std::size_t so_far)
    {
        if (so_far > linger_bytes) return close();
        piece_.resize(enough_to_receive);
        transport_->read_some(
            asio::buffer(piece_),
            [self = shared_from_this(), so_far](error_code problem, std::size_t got) {
                if (problem || self->closed_) return self->close();
                self->discard(so_far + got);
            });
    }

    // Sends what the source has, behind what waits in `out_` already; sleeps while there is
    // nothing.
    void pump()
    {
        if (!source_) return;
        chunk_.clear();
        auto step = BodySource::Step::data;
        while (step == BodySource::Step::data && chunk_.size() < enough_to_send)
            step = source_->next(chunk_);
        if (step == BodySource::Step::broken) return close();
        if (chunk_.empty() && out_.empty() && step == BodySource::Step::waiting) {
            waiting_ = true;
            timer_.expires_after(source_->patience());
            timer_.async_wait([weak = weak_from_this()](error_code problem) {
                const auto self = weak.lock();
                if (self && !problem) self->rung();
            });
            return watch_for_close();
        }
        const bool last = step == BodySource::Step::end;
        if (framing_ == Framing::length && !count(last)) return close();
        if (framing_ == Framing::chunks) {
            if (!chunk_.empty()) {
                out_ += fmt::format("{:x}\r\n", chunk_.size());
                tail_ = "\r\n";
            }
            if (last) tail_ += "0\r\n\r\n";
        }
        if (last) return write([](Connection& self) { self.finish(); });
        write([](Connection& self) { self.pump(); });
    }

    // Whether the source keeps the length that was told.
    bool count(bool last)
    {
        if (chunk_.size() > left_) return false;
        left_ -= chunk_.size();
        return !last || left_ == 0;
    }

    void rung()
    {
        if (!waiting_ || closed_) return;
        waiting_ = false;
        timer_.cancel();
        pump();
    }

    // A follower that went away while nothing was sent is noticed by its end of file.
    void watch_for_close()
    {
        if (watching_) return;
        watching_ = true;
        // This operation is also what keeps a waiting connection alive.
        transport_->raw().async_wait(
            Socket::wait_read, [self = shared_from_this()](error_code problem) {
                self->watching_ = false;
                if (problem || !self->source_) return;
                char byte = 0;
                const auto got = ::recv(
                    self->transport_->raw().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
                if (got == 0) return self->close();
                if (got < 0 && self->waiting_) self->watch_for_close();  // woken for nothing
            });
    }

    // ---- ending

    // Ends the connection when the current step takes longer than `limit`.
    void guard(std::chrono::milliseconds limit)
    {
        timer_.expires_after(limit);
        timer_.async_wait([weak = weak_from_this()](error_code problem) {
            const auto self = weak.lock();
            if (self && !problem) self->close();
        });
    }

    void close()
    {
        if (closed_) return;
        closed_ = true;
        stop_waiting();
        timer_.cancel();
        transport_->close();
        source_.reset();
        drop_sink();
    }

    std::unique_ptr<Transport> transport_;
    asio::steady_timer timer_;
    Door door_;
    std::string peer_;
    std::shared_ptr<Shared> shared_;
    Visitors::Place place_;
    Visitors::Place::iterator at_;
    RequestReader reader_;
    std::shared_ptr<Work> work_;
    std::unique_ptr<BodySink> sink_;
    std::string piece_;  // of a body that is streamed
    std::unique_ptr<BodySource> source_;
    Framing framing_ = Framing::length;
    std::uint64_t left_ = 0;  // of an answer with a length
    // What is written next, one behind the other.
    std::string out_;
    std::string chunk_;  // of a stream
    std::string tail_;
    bool keep_alive_ = true;
    bool unread_ = false;   // bytes of the request are still to come
    bool waits_ = false;    // for the head of a request
    bool feeding_ = false;  // a worker has the sink
    bool closed_ = false;
    bool served_any_ = false;
    bool waiting_ = false;
    bool watching_ = false;
};

}  // namespace

void serve_connection(std::unique_ptr<Transport> transport,
                      Door door,
                      std::string peer,
                      std::shared_ptr<Shared> shared)
{
    auto connection = std::make_shared<Connection>(
        std::move(transport), door, std::move(peer), std::move(shared));
    connection->start();
}

}  // namespace ponk::net

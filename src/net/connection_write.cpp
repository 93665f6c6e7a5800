// SPDX-License-Identifier: Apache-2.0
#include "net/connection_state.hpp"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <exception>
#include <sys/socket.h>
#include <utility>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

// Smaller pieces are copied behind each other.
constexpr std::size_t small_piece = 4 * 1024;
// Answers up to this size are not counted, and this much room is kept for the next one.
constexpr std::size_t small_answer = 64 * 1024;
// A source is asked again before writing until it has given so much.
constexpr std::size_t enough_to_send = 64 * 1024;
// What is read and thrown away of a request that was refused, so that its sender sees the answer.
constexpr std::size_t linger_bytes = std::size_t{64} << 20;
constexpr std::size_t linger_room = 64 * 1024;
constexpr std::chrono::seconds linger_time{5};

}  // namespace

void Connection::dispatch()
{
    relax();
    if (begin()) return;
    shared_->workers.run(work_->pace, [self = shared_from_this(), work = work_]() mutable {
        auto response = self->handle(work->request);
        work.reset();
        self->post_answer(std::move(response));
    });
}

// From any thread.
void Connection::post_answer(Response response)
{
    auto kept = std::make_shared<Response>(std::move(response));
    asio::post(transport_->executor(), [self = shared_from_this(), kept] {
        if (!self->closed_) self->send(std::move(*kept));
    });
}

// False when it takes a worker.
bool Connection::begin()
{
    if (!work_->begin) return false;
    // Whoever responds must not be the last to hold the connection once the promise is kept: the
    // server may be gone then.
    auto self = std::make_shared<std::shared_ptr<Connection>>(shared_from_this());
    const auto respond = [self, shared = shared_](Response response) {
        std::exchange(*self, nullptr)->post_answer(std::move(response));
        shared->promises.keep();
    };
    shared_->promises.make();
    try {
        if (work_->begin(work_->request, respond)) return true;
    } catch (const std::exception& problem) {
        respond(shared_->error(reader_.target(), Error(ErrorKind::internal, problem.what()), 500));
        return true;
    }
    shared_->promises.keep();
    return false;
}

Response Connection::handle(const Request& request)
{
    try {
        return shared_->handlers.answer(request);
    } catch (const std::exception& problem) {
        return shared_->error(reader_.target(), Error(ErrorKind::internal, problem.what()), 500);
    }
}

void Connection::refuse(const Error& error, int status)
{
    keep_alive_ = false;
    drop_sink();
    stop_waiting();
    send(shared_->error(reader_.target(), error, status));
}

// What is still to come of the request would be taken for the next one.
void Connection::answer(Response response)
{
    if (unread_) keep_alive_ = false;
    drop_sink();
    send(std::move(response));
}

void Connection::send(Response response)
{
    ++shared_->served;
    served_any_ = true;
    work_.reset();  // who is slow in reading the answer holds no body
    // What was done is always told: those answers are small.
    if (response.body.size() > small_answer && !part_.hold(response.body.size()))
        response = busy("too many large answers are waiting to be read");
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
        return write(&Connection::finish);
    }
    source_->attach([weak = weak_from_this()] {
        if (const auto self = weak.lock())
            asio::post(self->transport_->executor(), [self] { self->rung(); });
    });
    pump();
}

void Connection::write(Next next)
{
    guard(shared_->options.request_timeout);
    if (chunk_.size() < small_piece) {  // in one piece: TLS makes a record of each
        out_ += chunk_;
        out_ += tail_;
        chunk_.clear();
        tail_.clear();
    }
    // Most answers are small, and there is room for them at once. Only the last piece of one: what
    // follows must not pile up on the stack.
    if (next == &Connection::finish && chunk_.empty() && tail_.empty()) {
        out_.erase(0, transport_->try_write(asio::buffer(out_)));
        if (out_.empty()) return finish();
    }
    // In one call, and without copying a large chunk behind its head.
    transport_->write({asio::buffer(out_), asio::buffer(chunk_), asio::buffer(tail_)},
                      [self = shared_from_this(), next](error_code problem, std::size_t) {
                          if (self->closed_) return;
                          self->relax();
                          if (problem) return self->close();
                          self->out_.clear();
                          self->chunk_.clear();
                          self->tail_.clear();
                          (*self.*next)();
                      });
}

void Connection::finish()
{
    source_.reset();
    part_.release();
    for (auto* room : {&out_, &chunk_, &piece_}) {
        if (room->capacity() > small_answer) *room = std::string();
    }
    relax();
    if (keep_alive_ && !reader_.has_bytes()) return wait_for_request();
    if (keep_alive_) {
        // Each of many requests in one piece is a step of its own, and others have their turn.
        return asio::post(transport_->executor(), [self = shared_from_this()] {
            if (!self->closed_) self->wait_for_request();
        });
    }
    if (!unread_) return close();
    // Closing now would reset the connection, and the answer might be lost on the way.
    transport_->end_sending();
    guard(linger_time);
    discard(0);
}

void Connection::discard(std::size_t so_far)
{
    if (so_far > linger_bytes) return close();
    piece_.resize(linger_room);
    transport_->read_some(asio::buffer(piece_),
                          [self = shared_from_this(), so_far](error_code problem, std::size_t got) {
                              if (problem || self->closed_) return self->close();
                              self->discard(so_far + got);
                          });
}

// Sends what the source has, behind what waits in `out_` already; sleeps while there is
// nothing.
void Connection::pump()
{
    if (!source_) return;
    chunk_.clear();
    auto step = BodySource::Step::data;
    while (step == BodySource::Step::data && chunk_.size() < enough_to_send)
        step = source_->next(chunk_);
    if (step == BodySource::Step::broken) return close();
    if (chunk_.empty() && out_.empty() && step == BodySource::Step::waiting) {
        waiting_ = true;
        guard(source_->patience());
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
    if (last) return write(&Connection::finish);
    write(&Connection::pump);
}

// Whether the source keeps the length that was told.
bool Connection::count(bool last)
{
    if (chunk_.size() > left_) return false;
    left_ -= chunk_.size();
    return !last || left_ == 0;
}

void Connection::rung()
{
    if (!waiting_ || closed_) return;
    waiting_ = false;
    relax();
    pump();
}

// A follower that went away while nothing was sent is noticed by its end of file.
void Connection::watch_for_close()
{
    if (watching_) return;
    watching_ = true;
    // This operation is also what keeps a waiting connection alive.
    transport_->raw().async_wait(
        Socket::wait_read, [self = shared_from_this()](error_code problem) {
            self->watching_ = false;
            if (problem || !self->source_) return;
            char byte = 0;
            const auto got =
                ::recv(self->transport_->raw().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            if (got == 0) return self->close();
            if (got < 0 && self->waiting_) self->watch_for_close();  // woken for nothing
        });
}

}  // namespace ponk::net

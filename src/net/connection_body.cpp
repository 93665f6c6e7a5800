// SPDX-License-Identifier: Apache-2.0
// An answer that is streamed: its pieces are made on workers, one job for each, and sent here.
#include "net/connection_state.hpp"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <sys/socket.h>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

// A source is asked again before writing until it has given so much, or has taken so long.
constexpr std::size_t enough_to_send = 64 * 1024;
constexpr std::chrono::milliseconds long_enough{10};

}  // namespace

void Body::make_piece()
{
    const WorkScope scope(&budget);
    const auto limit = WorkBudget::Clock::now() + long_enough;
    try {
        do {
            // Nobody reads the rest, or it takes too long: what was made is no whole body.
            step = budget.check() ? source->next(piece) : BodySource::Step::broken;
        } while (step == BodySource::Step::data && piece.size() < enough_to_send &&
                 WorkBudget::Clock::now() < limit);
    } catch (const std::exception&) {
        step = BodySource::Step::broken;
    }
}

void Connection::begin_stream(std::unique_ptr<BodySource> source)
{
    body_ = std::make_shared<Body>();
    body_->source = std::move(source);
    // Many rings before the first is heard are one.
    const auto ringing = std::make_shared<std::atomic<bool>>(false);
    body_->source->attach([weak = weak_from_this(), ringing] {
        const auto self = weak.lock();
        if (!self || ringing->exchange(true)) return;
        asio::post(self->transport_->executor(), [self, ringing] {
            *ringing = false;
            self->rung();
        });
    });
    pump();
}

// Has the next piece made, which goes behind what waits in `out_` already.
void Connection::pump()
{
    if (!body_) return;
    rung_ = false;
    body_->budget.set_deadline(Clock::now() + shared_->options.work_limit);
    begin_work();
    shared_->workers.run(
        client_, Reception::Pace::piece, [self = shared_from_this(), body = body_]() mutable {
            if (!self->shared_->ends) body->make_piece();
            body.reset();  // the connection may have left it to us
            asio::post(self->transport_->executor(), [self] { self->pumped(); });
        });
}

// Sends the piece; sleeps while there is nothing.
void Connection::pumped()
{
    end_work();
    if (!body_) return;
    chunk_.swap(body_->piece);
    body_->piece.clear();
    const auto step = body_->step;
    if (step == BodySource::Step::broken) return close();
    const bool nothing = chunk_.empty() && out_.empty();
    if (nothing && step == BodySource::Step::waiting) {
        if (rung_) return pump();
        waiting_ = true;
        guard(body_->source->patience());
        return watch_for_close();
    }
    // Long work while nothing is sent: the client may have left.
    if (nothing && step == BodySource::Step::data)
        return peer_state() == Peer::there ? pump() : close();
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
    rung_ = true;
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
            if (problem || !self->body_) return;
            char byte = 0;
            const auto got =
                ::recv(self->transport_->raw().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            if (got == 0) return self->close();
            if (got < 0 && self->waiting_) self->watch_for_close();  // woken for nothing
        });
}

}  // namespace ponk::net

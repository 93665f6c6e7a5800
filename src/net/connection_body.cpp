// SPDX-License-Identifier: Apache-2.0
// An answer that is streamed: its pieces are made on workers, one job for each, and sent here.
#include "net/connection_state.hpp"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <sys/socket.h>
#include <utility>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

// A source is asked again before writing until it has given so much, or has taken so long.
constexpr std::size_t enough_to_send = 64 * 1024;
constexpr std::chrono::milliseconds long_enough{10};
// What a piece mostly takes while it is made.
constexpr std::size_t piece_room = 256 * 1024;
// How often a stream that waits for room looks for it.
constexpr std::chrono::milliseconds look_for_room{100};

}  // namespace

void Body::make_piece()
{
    const bool room = hold_answer_of(*client, *shared, part, std::max(need, piece_room));
    if (!room && (large || need > 0)) {
        need = std::max(need, piece_room);
        step = BodySource::Step::no_room;
        return;
    }
    need = 0;
    charged_before = charged;
    const WorkScope scope(&budget);
    const auto limit = WorkBudget::Clock::now() + long_enough;
    // Where there is no room, a small piece can still be told.
    const auto enough = room ? enough_to_send : 1;
    try {
        do {
            // Nobody reads the rest, or it takes too long: what was made is no whole body.
            step = budget.check() ? source->next(piece) : BodySource::Step::broken;
        } while (step == BodySource::Step::data && piece.size() < enough &&
                 WorkBudget::Clock::now() < limit);
    } catch (const std::exception&) {
        step = BodySource::Step::broken;
    }
    if (step == BodySource::Step::no_room) {
        if (need == 0) step = BodySource::Step::broken;  // it was not this that refused it
        if (!piece.empty()) step = BodySource::Step::data;
    }
    large = piece.capacity() > small_answer;
    part.shrink(large ? piece.capacity() : 0);
    if (!large || hold_answer_of(*client, *shared, part, piece.capacity())) return;
    too_large = piece.size();
    piece = std::string();
}

bool Body::hold(std::size_t total)
{
    charged = total;
    const auto bytes = total - charged_before;
    if (bytes <= small_answer || hold_answer_of(*client, *shared, part, bytes)) return true;
    const auto most = most_for_answer(*client, shared->options);
    if (bytes > most) too_large = bytes;
    // How much will follow is not known yet.
    need = std::min(bytes + bytes / 4, most);
    return false;
}

void Connection::begin_stream(std::unique_ptr<BodySource> source, CountedCall call)
{
    if (!client_) find_client("");
    body_ = std::make_shared<Body>(shared_, client_, std::move(source));
    body_->call = std::move(call);
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
    if (body_->too_large > 0) return give_up_stream(refuse_answer(body_->too_large));
    chunk_ = std::exchange(body_->piece, {});
    const auto step = body_->step;
    if (step == BodySource::Step::broken) return close();
    if (step == BodySource::Step::no_room) return wait_for_room();
    body_->patience.reset();
    const bool nothing = chunk_.empty() && out_.empty();
    if (nothing && step == BodySource::Step::waiting) {
        body_->call.end();  // it holds nothing until there is news
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
    body_->begun = true;
    if (last) return write(&Connection::finish);
    write(&Connection::sent_piece);
}

void Connection::sent_piece()
{
    if (!body_) return;
    if (chunk_.capacity() > small_answer) chunk_ = std::string();
    body_->part.release();
    pump();
}

// Until those who have the room have read what was made for them, or have gone.
void Connection::wait_for_room()
{
    const auto now = Clock::now();
    if (!body_->patience) body_->patience = now + shared_->options.room_timeout;
    if (body_->find_room()) return pump();
    if (now > *body_->patience) return give_up_stream(refuse_answer(body_->need));
    if (peer_state() != Peer::there) return close();
    pause_for(look_for_room, [](Connection& self) { self.wait_for_room(); });
}

// Nobody takes a part of an answer for all of it.
void Connection::give_up_stream(Response why)
{
    if (body_->begun) return close();
    body_.reset();
    send_head(why);
    chunk_ = std::move(why.body);
    write(&Connection::finish);
}

// Whether the source keeps the length that was announced.
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

// SPDX-License-Identifier: Apache-2.0
// The body of a request. Of a large one the bytes are received on workers, piece by piece: there
// clients take turns by the CPU time that they use, the kernel's part of it included.
#include "base/text.hpp"
#include "net/connection_state.hpp"

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

using Step = RequestReader::Step;

// Bodies up to this size are not counted: however busy the server is, a line can be logged.
constexpr std::size_t small_body = 64 * 1024;
// A stream that comes slower than this within the time for a body is given up.
constexpr std::size_t enough_to_receive = 64 * 1024;
// What a worker receives before others have their turn.
constexpr std::size_t enough_for_a_turn = 512 * 1024;
// What a byte of a body costs on an I/O thread, and one of a chunk's frame, in nanoseconds.
constexpr std::int64_t byte_cost = 1;
constexpr std::int64_t frame_byte_cost = 20;

}  // namespace

// What comes in the first piece with the head is free.
void Connection::receive_body()
{
    charge_body();
    const auto pause =
        client_->is_owner() ? std::chrono::milliseconds(0) : client_->io.pause(Clock::now());
    pause_for(pause, [](Connection& self) {
        if (self.reader_.data_bytes() > large_for_io) return self.wait_for_large();
        self.receive(self.reader_.body_room(), &Connection::read_body);
    });
}

void Connection::wait_for_large()
{
    transport_->wait_readable([self = shared_from_this()](error_code problem, std::size_t) {
        if (self->closed_) return;
        if (problem) return self->close();
        self->receive_large();
    });
}

void Connection::receive_large()
{
    const auto got = std::make_shared<Received>();
    lend([this, got] { *got = receive_now(); },
         [this, got] {
             if (got->bytes > 0) return take_body(got->step);
             // The end, or an error: it is told here.
             receive(reader_.body_room(), &Connection::read_body);
         });
}

// On a worker.
Connection::Received Connection::receive_now()
{
    if (!sink_) {
        // Not touched, so nobody misses it: but what is there need not be copied as it grows.
        const auto most =
            std::min<std::uint64_t>(reader_.body_size().value_or(0), work_->body_limit);
        work_->request.body.reserve(most);
    }
    Received received;
    while (received.step == Step::more && received.bytes < enough_for_a_turn) {
        const auto got = transport_->try_read(reader_.room(reader_.body_room()));
        if (got == 0) break;
        reader_.received(got);
        received.bytes += got;
        received.step = parse_body();
    }
    return received;
}

void Connection::charge_body()
{
    const auto frames = reader_.frame_bytes();
    const auto bytes = std::exchange(received_, 0);
    const auto new_frames = frames - std::exchange(charged_frames_, frames);
    if (bytes + new_frames == 0) return;
    client_->io.charge(static_cast<std::int64_t>(bytes) * byte_cost +
                           static_cast<std::int64_t>(new_frames) * frame_byte_cost,
                       Clock::now());
}

void Connection::begin_body()
{
    guard(shared_->options.request_timeout);
    received_ = 0;
    charged_frames_ = 0;
    read_body();
}

void Connection::read_body()
{
    take_body(parse_body());
}

Step Connection::parse_body()
{
    if (sink_) return reader_.read_body(piece_, body_room - piece_.size());
    auto& body = work_->request.body;
    // One byte more than allowed tells that it is too long.
    return reader_.read_body(body, work_->body_limit + 1 - body.size());
}

void Connection::take_body(Step step)
{
    if (sink_) return take_stream(step);
    const auto& body = work_->request.body;
    // A chunk says its length: what is too long by that need not come first.
    if (std::max<std::uint64_t>(body.size(), reader_.promised_bytes()) > work_->body_limit)
        return refuse_large();
    if (body.size() > small_body && !hold_body(body.size())) return refuse_busy();
    if (step == Step::bad) return refuse_problem();
    if (step == Step::ready) {
        unread_ = false;
        charge_body();
        return dispatch();
    }
    receive_body();
}

void Connection::refuse_large()
{
    refuse(Error(ErrorKind::invalid_argument,
                 fmt::format("the request is too large: at most {} are taken here",
                             byte_size_text(work_->body_limit))),
           413);
}

void Connection::refuse_busy()
{
    answer(busy("too many large requests at once"));
}

Response Connection::busy(const char* why) const
{
    auto response = shared_->error(
        reader_.target(), Error(ErrorKind::unavailable, why, "Try again in a moment."), 503);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

void Connection::refuse_problem()
{
    if (client_) charge_body();
    refuse(Error(ErrorKind::invalid_argument, reader_.problem().text), reader_.problem().status);
}

// ---- a body as a stream

void Connection::take_stream(Step step)
{
    if (step == Step::bad) return refuse_problem();
    if (step == Step::ready) unread_ = false;
    if (step == Step::more && piece_.size() < enough_to_receive) return receive_body();
    feed(step == Step::ready ? &Connection::write_last_piece : &Connection::write_piece,
         &Connection::read_body);
}

std::optional<Response> Connection::write_piece()
{
    return piece_.empty() ? std::nullopt : sink_->write(piece_);
}

std::optional<Response> Connection::write_last_piece()
{
    auto refusal = write_piece();
    return refusal ? std::move(refusal) : sink_->finish();
}

// On a worker; the strand leaves sink and piece alone meanwhile. `next` when there is no answer.
void Connection::feed(Feeding feeding, Next next)
{
    begin_work();
    feeding_ = true;
    work_->budget.set_deadline(Clock::now() + work_->time_limit);
    const auto job = [self = shared_from_this(), work = work_, feeding, next] {
        const WorkScope scope(&work->budget);
        auto kept = std::make_shared<std::optional<Response>>();
        try {
            *kept = (*self.*feeding)();
        } catch (const std::exception& problem) {
            *kept = self->shared_->error(
                self->reader_.target(), Error(ErrorKind::internal, problem.what()), 500);
        }
        self->piece_.clear();
        if (*kept) self->sink_.reset();
        asio::post(self->transport_->executor(), [self, kept, next] {
            self->feeding_ = false;
            self->end_work();
            if (self->closed_) return self->drop_sink();
            if (*kept) return self->answer(std::move(**kept));
            self->guard(self->shared_->options.request_timeout);
            (*self.*next)();
        });
    };
    shared_->workers.run(client_, work_->pace, job);
}

// Tells the sink, where waiting hurts nobody.
void Connection::drop_sink()
{
    if (!sink_ || feeding_) return;
    const std::shared_ptr<BodySink> sink = std::move(sink_);
    shared_->workers.run(client_, Reception::Pace::quick, [sink] { sink->abort(); });
}

}  // namespace ponk::net

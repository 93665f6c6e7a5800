// SPDX-License-Identifier: Apache-2.0
// A connection that has become a WebSocket: frames are read and written here, and each turn of what
// is said is a job on the workers.
#include "net/connection_state.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

constexpr std::size_t frame_room = 4 * 1024;
// In nanoseconds of an I/O thread: a frame may have as few as six bytes.
constexpr std::int64_t read_cost = 10'000;
constexpr std::int64_t byte_cost = 50;

}  // namespace

void Speech::take_turn()
{
    const WorkScope scope(&budget);
    try {
        if (heard) dialogue->take(*heard);
        heard.reset();
        said.clear();
        step = dialogue->next(said);
    } catch (const std::exception&) {
        step = Dialogue::Step::end;
    }
}

void Connection::open_socket(Response response)
{
    if (!client_) find_client("");
    socket_ =
        std::make_unique<SocketSide>(std::move(response.dialogue), shared_->options.message_limit);
    send_head(response);
    // The alarm is the socket's from here on.
    socket_->ping_at = Clock::now() + shared_->options.ping_interval;
    write_out([](Connection& self) { self.begin_socket(); });
}

void Connection::begin_socket()
{
    // Who has not said who it is gives way to newcomers.
    shared_->connections.wait(place_);
    waits_ = true;
    shared_->sockets.lock()->emplace(this, weak_from_this());
    // Many rings before the first is heard are one.
    const auto ringing = std::make_shared<std::atomic<bool>>(false);
    socket_->speech->dialogue->attach([weak = weak_from_this(), ringing] {
        const auto self = weak.lock();
        if (!self || ringing->exchange(true)) return;
        asio::post(self->transport_->executor(), [self, ringing] {
            *ringing = false;
            if (!self->closed_) self->take_turn();
        });
    });
    sent_frames();
    take_turn();
    hear();
}

// Everything that has come; then waits for more.
void Connection::hear()
{
    auto& side = *socket_;
    while (!side.deaf) {
        auto bytes = reader_.bytes();
        const auto before = bytes.size();
        const auto step = side.frames.read(bytes);
        reader_.use(before - bytes.size());
        if (step == FrameReader::Step::more) break;
        if (step == FrameReader::Step::bad) {
            side.deaf = true;
            end_socket(side.frames.problem());
            break;
        }
        auto content = side.frames.take();
        if (step == FrameReader::Step::close) {
            if (side.ended) return close();
            side.left = true;
            return end_socket({});
        }
        if (side.ended) continue;
        if (step == FrameReader::Step::ping) {
            side.pong = std::move(content);
            send_frames();
        } else if (step == FrameReader::Step::message) {
            // The next one is read when this is taken. A worker may have the speech now.
            side.heard = std::move(content);
            side.holding = true;
            return take_turn();
        }
    }
    // Closing with bytes unread would reset the connection before it was heard why.
    if (side.deaf) reader_.use(reader_.bytes().size());
    const auto pause =
        client_->is_owner() ? std::chrono::milliseconds(0) : client_->io.pause(Clock::now());
    pause_for(pause, [](Connection& self) { self.read_frames(); });
}

void Connection::read_frames()
{
    transport_->read_some(reader_.room(frame_room),
                          [self = shared_from_this()](error_code problem, std::size_t got) {
                              if (self->closed_) return;
                              if (problem) return self->close();
                              const auto now = Clock::now();
                              const auto size = static_cast<std::int64_t>(got);
                              self->client_->io.charge(read_cost + size * byte_cost, now);
                              self->socket_->heard_at = now;
                              self->reader_.received(got);
                              self->hear();
                          });
}

// One after the other, and none while what was said last is still on its way.
void Connection::take_turn()
{
    auto& side = *socket_;
    if (side.ended) return;
    side.rung = true;
    if (side.busy || side.writing) return;
    side.rung = false;
    side.busy = true;
    side.speech->heard = std::exchange(side.heard, std::nullopt);
    ++shared_->served;  // who hears what changes need not ask: the server is in use
    side.look_at = Clock::time_point::max();
    side.speech->budget.set_deadline(Clock::now() + shared_->options.work_limit);
    shared_->workers.run(client_,
                         Reception::Pace::piece,
                         [self = shared_from_this(), speech = side.speech]() mutable {
                             if (!self->shared_->ends) speech->take_turn();
                             speech.reset();  // the connection may have left it to us
                             asio::post(self->transport_->executor(), [self] {
                                 if (!self->closed_) self->turned();
                             });
                         });
}

void Connection::turned()
{
    auto& side = *socket_;
    side.busy = false;
    if (shared_->ends) return;
    answer_turn();
    // A message that came during that turn is for the next one.
    if (!closed_ && side.holding && (!side.heard || side.ended)) {
        side.heard.reset();
        side.holding = false;
        side.heard_at = Clock::now();
        hear();
    }
    if (!closed_) set_socket_alarm();
}

void Connection::answer_turn()
{
    auto& side = *socket_;
    if (side.ended) return;
    if (const auto client = side.speech->dialogue->client(); !client.empty()) {
        find_client(client);
        stop_waiting();
    }
    if (side.speech->step == Dialogue::Step::end)
        return end_socket(side.speech->dialogue->closing());
    if (side.speech->step == Dialogue::Step::message) {
        side.to_send = text_frame(side.speech->said);
        side.rung = true;  // there may be more
        send_frames();
    } else {
        side.look_at = Clock::now() + side.speech->dialogue->patience();
        if (side.rung) take_turn();
    }
}

void Connection::send_frames()
{
    auto& side = *socket_;
    if (side.writing || closed_) return;
    if (side.pong) out_ += pong_frame(*std::exchange(side.pong, std::nullopt));
    if (std::exchange(side.ping, false)) out_ += ping_frame();
    out_ += std::exchange(side.to_send, {});
    out_ += std::exchange(side.closing, {});
    if (out_.empty()) return;
    write_out([](Connection& self) { self.sent_frames(); });
}

// All of `out_`, in the time that a client has to take it.
void Connection::write_out(void (*then)(Connection&))
{
    socket_->writing = true;
    socket_->written_by = Clock::now() + shared_->options.request_timeout;
    set_socket_alarm();
    transport_->write({asio::buffer(out_), {}, {}},
                      [self = shared_from_this(), then](error_code problem, std::size_t) {
                          if (self->closed_) return;
                          if (problem) return self->close();
                          self->out_.clear();
                          if (self->out_.capacity() > small_answer) self->out_ = std::string();
                          then(*self);
                      });
}

void Connection::sent_frames()
{
    auto& side = *socket_;
    side.writing = false;
    side.written_by = Clock::time_point::max();
    send_frames();
    if (side.writing) return;
    if (side.left) return close();
    if (side.rung) take_turn();
}

// Says why, once; then waits a little for the client to say that it has heard.
void Connection::end_socket(const Dialogue::Closing& closing)
{
    auto& side = *socket_;
    if (side.ended) return;
    side.ended = true;
    side.closing = close_frame(closing);
    side.closed_by = Clock::now() + shared_->options.close_limit;
    set_socket_alarm();
    send_frames();
}

void Connection::say_goodbye()
{
    asio::post(transport_->executor(), [self = shared_from_this()] {
        if (!self->closed_) self->end_socket({1001, "the daemon ends"});
    });
}

void Connection::set_socket_alarm()
{
    const auto& side = *socket_;
    guard_until(std::min({side.ping_at,
                          side.look_at,
                          side.written_by,
                          side.closed_by,
                          side.heard_at + shared_->options.silence_limit}));
}

void Connection::on_socket_alarm()
{
    auto& side = *socket_;
    const auto now = Clock::now();
    // Who is not read from cannot be heard.
    if (side.holding) side.heard_at = now;
    if (now >= side.written_by || now >= side.closed_by ||
        now >= side.heard_at + shared_->options.silence_limit)
        return close();
    if (now >= side.ping_at) {
        side.ping_at = now + shared_->options.ping_interval;
        side.ping = !side.ended;
        send_frames();
    }
    if (now >= side.look_at) {
        side.look_at = Clock::time_point::max();
        take_turn();
    }
    set_socket_alarm();
}

// At the end of the connection.
void Connection::leave_socket()
{
    shared_->sockets.lock()->erase(this);
    socket_->speech->budget.abandon();
    socket_->speech.reset();
}

}  // namespace ponk::net

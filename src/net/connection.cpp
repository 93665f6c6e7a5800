// SPDX-License-Identifier: Apache-2.0
#include "net/connection.hpp"

#include "net/connection_state.hpp"

#include <boost/asio/post.hpp>

#include <poll.h>

namespace ponk::net {

namespace asio = boost::asio;

Connection::Connection(std::unique_ptr<Transport> transport,
                       ListenerKind listener_kind,
                       std::string peer,
                       std::shared_ptr<Shared> shared)
    : transport_(std::move(transport)), timer_(transport_->executor()),
      pause_(transport_->executor()), listener_kind_(listener_kind), peer_(std::move(peer)),
      shared_(std::move(shared))
{
}

Connection::~Connection()
{
    if (sink_) sink_->abort();
    shared_->connections.leave(peer_);
}

void Connection::start()
{
    place_.push_back({.guest = weak_from_this(), .peer = peer_});
    at_ = place_.begin();
    guard(shared_->options.head_timeout);
    transport_->lend_by([this](std::function<void()> job, std::function<void()> next) {
        compute_for_stranger(std::move(job), std::move(next));
    });
    transport_->greet([self = shared_from_this()](error_code problem, std::size_t) {
        if (problem) return self->close();
        self->wait_for_request();
    });
}

void Connection::give_way()
{
    asio::post(transport_->executor(), [self = shared_from_this()] {
        if (self->waits_) self->close();
    });
}

// Ends the connection when the current step takes longer than until then. Steps follow each other
// quickly, so a deadline that moves away leaves the timer alone.
void Connection::guard_until(Clock::time_point deadline)
{
    deadline_ = deadline;
    if (deadline_ < alarm_) set_alarm();
}

void Connection::set_alarm()
{
    alarm_ = deadline_;
    timer_.expires_at(alarm_);
    timer_.async_wait([weak = weak_from_this()](error_code problem) {
        const auto self = weak.lock();
        if (self && !problem) self->on_alarm();
    });
}

void Connection::on_alarm()
{
    alarm_ = Clock::time_point::max();
    if (closed_ || deadline_ == alarm_) return;
    if (Clock::now() < deadline_) return set_alarm();
    if (socket_) return on_socket_alarm();
    if (working_) return look_after_client();
    if (waiting_) return rung();
    close();
}

// A worker has something of this connection from here on; the client is looked after meanwhile.
void Connection::begin_work()
{
    working_ = true;
    guard(shared_->options.watch_interval);
}

void Connection::end_work()
{
    working_ = false;
    relax();
}

// Before anybody has said who it is: what is done for an address is no more than half of a thread's
// time, so that those who have said it have the rest.
void Connection::compute_for_stranger(std::function<void()> job, std::function<void()> next)
{
    if (!client_) find_client("");
    const auto measured = [this, job = std::move(job)] {
        const auto before = thread_cpu_time();
        job();
        client_->io.charge(thread_cpu_time() - before, Clock::now());
    };
    pause_for(client_->io.pause(Clock::now()),
              [measured, next](Connection& self) { self.lend(measured, next); });
}

// A worker has the transport, and what reads from it, for as long as `job` lasts. Who wants to
// close the connection meanwhile is heard behind it.
void Connection::lend(std::function<void()> job, std::function<void()> next)
{
    lent_ = true;
    const auto run = [self = shared_from_this(), job = std::move(job), next = std::move(next)] {
        if (!self->shared_->ends) job();
        asio::post(self->transport_->executor(), [self, next] {
            self->lent_ = false;
            if (self->closing_) return self->close();
            next();
        });
    };
    shared_->workers.run(client_, Reception::Pace::receive, run);
}

Connection::Peer Connection::peer_state()
{
    pollfd socket{transport_->raw().native_handle(), POLLRDHUP, 0};
    if (::poll(&socket, 1, 0) <= 0) return Peer::there;
    if ((socket.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return Peer::gone;
    return (socket.revents & POLLRDHUP) != 0 ? Peer::half_closed : Peer::there;
}

// Nobody works for a client that is gone. One that only sends no more may wait for its answer, but
// it looks the same as one that is gone: not for long.
void Connection::look_after_client()
{
    const auto state = peer_state();
    if (state == Peer::gone) return close();
    if (state == Peer::half_closed) {
        const auto limit = Clock::now() + shared_->options.half_closed_limit;
        if (work_ && !leaving_) work_->budget.bring_forward(limit);
        if (body_ && !leaving_) body_->budget.bring_forward(limit);
        leaving_ = true;
    }
    guard(shared_->options.watch_interval);
}

void Connection::close()
{
    if (closed_) return;
    closing_ = true;
    if (lent_) return;
    closed_ = true;
    stop_waiting();
    timer_.cancel();
    pause_.cancel();
    transport_->close();
    if (work_) work_->budget.abandon();
    if (body_) body_->budget.abandon();
    body_.reset();
    if (socket_) leave_socket();
    drop_sink();
}

void serve_connection(std::unique_ptr<Transport> transport,
                      ListenerKind listener_kind,
                      std::string peer,
                      std::shared_ptr<Shared> shared)
{
    const auto strand = transport->executor();
    auto connection = std::make_shared<Connection>(
        std::move(transport), listener_kind, std::move(peer), std::move(shared));
    asio::post(strand, [connection] { connection->start(); });
}

}  // namespace ponk::net

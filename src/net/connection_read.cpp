// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "net/connection_state.hpp"
#include "net/target.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace ponk::net {

namespace asio = boost::asio;

namespace {

using Step = RequestReader::Step;

constexpr std::size_t head_room = 4 * 1024;

}  // namespace

void Connection::wait_for_request()
{
    reader_.next_request();
    work_.reset();
    leaving_ = false;
    keep_alive_ = true;
    unread_ = false;
    shared_->connections.wait(place_);
    waits_ = true;
    partly_ = false;
    if (reader_.has_bytes()) return read_head();  // sent right behind the last one
    guard(served_any_ ? shared_->options.idle_timeout : shared_->options.request_timeout);
    // To wait first and then read is a call of the kernel more, and only saves memory.
    if (reader_.keeps_room(head_room)) return receive(head_room, &Connection::read_head);
    transport_->wait_readable([self = shared_from_this()](error_code problem, std::size_t) {
        if (problem) return self->close();
        // Most requests are there as a whole now.
        const auto got = self->transport_->try_read(self->reader_.room(head_room));
        if (got == 0) return self->receive(head_room, &Connection::read_head);
        self->reader_.received(got);
        self->read_head();
    });
}

void Connection::receive(std::size_t room, Next next)
{
    transport_->read_some(reader_.room(room),
                          [self = shared_from_this(), next](error_code problem, std::size_t got) {
                              if (self->closed_) return;
                              if (problem == asio::error::eof) return self->ended_early();
                              if (problem) return self->close();
                              self->reader_.received(got);
                              self->received_ += got;
                              (*self.*next)();
                          });
}

// Without a thread.
void Connection::pause_for(std::chrono::milliseconds pause, std::function<void(Connection&)> next)
{
    if (pause.count() == 0) return next(*this);
    pause_.expires_after(pause);
    pause_.async_wait([self = shared_from_this(), next = std::move(next)](error_code problem) {
        if (!problem && !self->closed_) next(*self);
    });
}

// The other side sends no more; it may still want to hear what was wrong.
void Connection::ended_early()
{
    if (!reader_.has_begun()) return close();
    refuse(Error(ErrorKind::invalid_argument, "the request ended before it was complete"), 400);
}

void Connection::read_head()
{
    const auto step = reader_.read_head();
    if (step == Step::more) {
        // Who sends half of one holds a connection for nothing: the rest must be there soon.
        if (!partly_) guard(shared_->options.head_timeout);
        partly_ = true;
        return receive(head_room, &Connection::read_head);
    }
    stop_waiting();
    if (step == Step::bad) return refuse_problem();
    take_request();
}

void Connection::stop_waiting()
{
    if (!waits_) return;
    waits_ = false;
    shared_->connections.stop_waiting(place_, at_);
}

void Connection::take_request()
{
    keep_alive_ = reader_.keep_alive();
    unread_ = !reader_.has_all();
    work_ = std::make_shared<Work>(shared_);
    auto& request = work_->request;
    request.method = std::string(reader_.method());
    request.headers = reader_.take_headers();
    request.listener_kind = listener_kind_;
    request.peer = peer_;
    auto target = parse_target(reader_.target());
    if (!target) return refuse(target.error(), 400);
    if (!target->authority.empty() &&
        !same_ignoring_case(target->authority, request.header("Host")))
        return refuse(Error(ErrorKind::invalid_argument,
                            "the address and the header 'Host' name different hosts"),
                      400);
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    auto reception = receive_by_handler(request);
    if (reception.answer) return answer(std::move(*reception.answer));
    find_client(reception.client);
    work_->client = client_;
    work_->time_limit = reception.time_limit.value_or(shared_->options.work_limit);
    // What may take long looks at much that is no part of its answer.
    if (!reception.time_limit)
        work_->budget.limit_answer(shared_->options.answer_limit, work_.get());
    work_->pace = reception.pace;
    work_->begin = std::move(reception.begin);
    work_->body_limit = reception.body_limit;
    sink_ = std::move(reception.sink);
    if (sink_ && !count_call()) return answer(too_many_calls());
    if (!sink_ && reader_.body_size().value_or(0) > work_->body_limit) return refuse_large();
    // What is only announced takes no room from others.
    if (!sink_)
        request.body.reserve(std::min<std::size_t>(reader_.body_size().value_or(0), body_room));
    answer_expectation();
}

// Requests of one connection are mostly of one client.
void Connection::find_client(const std::string& named)
{
    static const std::string owner;
    static const std::string stranger = "?";
    const auto& address = peer_.empty() ? stranger : peer_;
    const auto& name =
        listener_kind_ == ListenerKind::unix_socket ? owner : (named.empty() ? address : named);
    if (client_ && name == client_name_) return;
    client_name_ = name;
    client_ = shared_->accounts.find(name);
}

bool Connection::hold_body(std::size_t bytes)
{
    const auto& options = shared_->options;
    // The owner has room that others cannot fill.
    const auto extra = client_->is_owner() ? options.client_budget : 0;
    const auto share = client_->is_owner() ? options.body_budget : options.client_budget;
    return work_->part.hold(
        bytes, {shared_->body_bytes, options.body_budget + extra}, {client_->body_bytes, share});
}

Reception Connection::receive_by_handler(const Request& request)
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
void Connection::answer_expectation()
{
    const auto& expectation = reader_.expectation();
    if (expectation.empty() || reader_.is_old_http()) return begin_body();
    if (!same_ignoring_case(expectation, "100-continue")) {
        return refuse(Error(ErrorKind::invalid_argument,
                            "the expectation '" + printable(expectation) + "' cannot be met"),
                      417);
    }
    if (reader_.has_bytes() || reader_.has_all()) return begin_body();
    if (sink_) return feed(&Connection::open_sink, &Connection::send_100_continue);
    send_100_continue();
}

void Connection::send_100_continue()
{
    out_ = "HTTP/1.1 100 Continue\r\n\r\n";
    write(&Connection::begin_body);
}

}  // namespace ponk::net

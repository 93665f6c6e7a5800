// SPDX-License-Identifier: Apache-2.0
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

// Smaller pieces are copied behind each other.
constexpr std::size_t small_piece = 4 * 1024;
// What is read and thrown away of a request that was refused, so that its sender sees the answer:
// twice what bodies mostly may have. It is no help to anybody else, so a byte counts as several.
constexpr std::size_t linger_bytes = std::size_t{32} << 20;
constexpr std::int64_t linger_byte_cost = 4;
constexpr std::size_t linger_room = 64 * 1024;
constexpr std::chrono::seconds linger_time{5};
// What is begun for smaller ones takes about so many nanoseconds: asking the kernel twice how long
// it was would be a good part of that.
constexpr std::size_t small_for_io = 4 * 1024;
constexpr std::int64_t small_cost = 10'000;

}  // namespace

// The owner has room that others cannot fill.
bool hold_answer_of(Account& client, Shared& shared, Part& part, std::size_t bytes)
{
    const auto& options = shared.options;
    const auto extra = client.is_owner() ? options.client_budget : 0;
    const auto share = client.is_owner() ? options.answer_budget : options.client_budget;
    return part.hold(
        bytes, {shared.answer_bytes, options.answer_budget + extra}, {client.answer_bytes, share});
}

std::size_t most_for_answer(const Account& client, const ServerOptions& options)
{
    return client.is_owner() ? options.answer_budget
                             : std::min(options.answer_budget, options.client_budget);
}

void Connection::dispatch()
{
    relax();
    if (!count_call()) return answer(too_many_calls());
    work_->budget.set_deadline(Clock::now() + work_->time_limit);
    // The calls of one that uses much CPU time take turns with those of others.
    const bool on_worker = client_->heavy || work_->request.body.size() > large_for_io;
    if (work_->begin && !on_worker) {
        const bool small = work_->request.body.size() <= small_for_io;
        const auto before = small ? 0 : thread_cpu_time();
        const bool begun = begin(*work_);
        shared_->workers.charge(*client_, small ? small_cost : thread_cpu_time() - before);
        if (begun) return;
        work_->begin = nullptr;
    }
    begin_work();
    shared_->workers.run(client_, work_->pace, [self = shared_from_this(), work = work_]() mutable {
        self->begin_or_handle(std::exchange(work, nullptr));
    });
}

// On a worker.
void Connection::begin_or_handle(std::shared_ptr<Work> work)
{
    if (work->begin && !work->budget.abandoned() && !shared_->ends && begin(*work)) return;
    auto response = handle(*work);
    work.reset();
    post_answer(std::move(response));
}

// False when the client has as many calls in flight as it may.
bool Connection::count_call()
{
    work_->call = CountedCall(client_);
    return client_->is_owner() || client_->calls <= shared_->options.call_limit;
}

Response Connection::too_many_calls() const
{
    auto response =
        shared_->error(reader_.target(),
                       Error(ErrorKind::unavailable,
                             fmt::format("{} requests of this client are being answered already",
                                         shared_->options.call_limit),
                             "Wait for answers before sending more."),
                       429);
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

// From any thread.
void Connection::post_answer(Response response)
{
    auto kept = std::make_shared<Response>(std::move(response));
    asio::post(transport_->executor(), [self = shared_from_this(), kept] {
        self->end_work();
        if (!self->closed_) self->send(std::move(*kept));
    });
}

// False when the handler must be asked.
bool Connection::begin(Work& work)
{
    // Whoever responds must not be the last to hold the connection once the promise is kept: the
    // server may be gone then.
    auto self = std::make_shared<std::shared_ptr<Connection>>(shared_from_this());
    const auto respond = [self, shared = shared_](Response response) {
        std::exchange(*self, nullptr)->post_answer(std::move(response));
        shared->promises.keep();
    };
    shared_->promises.make();
    try {
        if (work.begin(work.request, respond)) return true;
    } catch (const std::exception& problem) {
        respond(shared_->error(reader_.target(), Error(ErrorKind::internal, problem.what()), 500));
        return true;
    }
    shared_->promises.keep();
    return false;
}

Response Connection::handle(const Work& work)
{
    // It may have waited long for its turn.
    if (work.budget.abandoned() || shared_->ends) return {};
    if (!work.budget.check()) return busy("the server had no time for the request");
    const WorkScope scope(&work.budget);
    try {
        return shared_->handlers.answer(work.request);
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
    auto call = work_ ? std::move(work_->call) : CountedCall();
    work_.reset();  // who is slow in reading the answer holds no body
    if (response.body.size() > small_answer && !hold_answer(response.body.size()))
        response = refuse_answer(response.body.size());
    if (response.dialogue) return open_socket(std::move(response));
    send_head(response);
    if (response.stream) return begin_stream(std::move(response.stream), std::move(call));
    chunk_ = std::move(response.body);
    write(&Connection::finish);
}

// Leaves nothing of the body where none is sent.
void Connection::send_head(Response& response)
{
    const bool bare = response.status == 101 || response.status == 204 || response.status == 304;
    const bool head_only = bare || reader_.method() == "HEAD";
    framing_ = bare ? Framing::none : Framing::length;
    if (response.stream && !response.stream_size && !bare)
        framing_ = reader_.is_old_http() ? Framing::closing : Framing::chunks;
    if (framing_ == Framing::closing) keep_alive_ = false;
    left_ = response.stream ? response.stream_size.value_or(0) : response.body.size();
    out_ = head_of(response, framing_, left_, keep_alive_);
    if (!head_only) return;
    response.body.clear();
    response.stream.reset();
}

bool Connection::hold_answer(std::size_t bytes)
{
    if (!client_) find_client("");
    return hold_answer_of(*client_, *shared_, part_, bytes);
}

bool Work::hold(std::size_t bytes)
{
    return bytes <= small_answer || hold_answer_of(*client, *shared, answer_part, bytes);
}

// One that is too large alone is not worth another try.
Response Connection::refuse_answer(std::size_t bytes) const
{
    if (bytes <= most_for_answer(*client_, shared_->options))
        return busy("too many large answers are waiting to be read");
    return shared_->error(reader_.target(),
                          Error(ErrorKind::invalid_argument,
                                fmt::format("the answer has {}, more than one request is given",
                                            byte_size_text(bytes)),
                                "Ask for less: a narrower filter, fewer keys, a smaller page."),
                          400);
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
    body_.reset();
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
    if (!client_) find_client("");
    discard(0);
}

// What others than the owner send for nothing is charged.
void Connection::discard(std::size_t so_far)
{
    if (so_far > linger_bytes) return close();
    const auto pause =
        client_->is_owner() ? std::chrono::milliseconds(0) : client_->io.pause(Clock::now());
    pause_for(pause, [so_far](Connection& self) { self.discard_more(so_far); });
}

void Connection::discard_more(std::size_t so_far)
{
    piece_.resize(linger_room);
    transport_->read_some(asio::buffer(piece_),
                          [self = shared_from_this(), so_far](error_code problem, std::size_t got) {
                              if (problem || self->closed_) return self->close();
                              const auto cost = static_cast<std::int64_t>(got) * linger_byte_cost;
                              self->client_->io.charge(cost, Clock::now());
                              self->discard(so_far + got);
                          });
}

}  // namespace ponk::net

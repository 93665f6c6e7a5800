// SPDX-License-Identifier: Apache-2.0
#include "agent/server.hpp"

#include "executor/remote/wire/message.hpp"
#include "os/wait.hpp"

#include <unistd.h>
#include <vector>

namespace ponk::agent {

using namespace std::chrono_literals;
using namespace executor::remote;

namespace {

constexpr std::size_t most_requests = 512;
constexpr auto quiet_before_garbage = 30s;
constexpr auto between_garbage = 10min;

}  // namespace

Server::Server(Calls& calls, os::Fd in, os::Fd out)
    : calls_(calls), in_(std::move(in)), out_(std::move(out))
{
    make_nonblocking(in_.get());
    make_nonblocking(out_.get());
    // A line that cannot be written to is seen by the reader, at the latest by its silence.
    writer_ = std::make_unique<FrameWriter>(out_.get(), [](const Error&) {});
    housekeeper_ = std::jthread([this](const std::stop_token& stop) {
        for (auto pause = std::chrono::milliseconds(quiet_before_garbage);
             os::sleep_for(pause, stop);
             pause = between_garbage)
            calls_.collect_garbage(stop);
    });
}

Server::~Server()
{
    housekeeper_.request_stop();
    Requests leaving;
    std::swap(leaving, *requests_.lock());
    for (auto& [number, request] : leaving)
        request.thread.request_stop();
    leaving.clear();  // joins
}

Result<> Server::serve(const Json& hello)
{
    writer_->put(std::string(greeting));
    send({FrameKind::hello, 0, hello, {}});
    FrameParser parser;
    bool greeted = false;
    for (;;) {
        while (auto frame = TRY(parser.next())) {
            if (!greeted) {
                if (frame->kind != FrameKind::hello)
                    return fail(ErrorKind::damaged, "the daemon did not send a hello first");
                TRY(parse_hello(frame->head));
                greeted = true;
                continue;
            }
            take(std::move(*frame));
        }
        const auto bytes = TRY(read_some(in_.get(), after(silence_limit), {}));
        if (bytes.empty()) return {};
        parser.take(bytes);
    }
}

void Server::take(Frame frame)
{
    if (frame.kind == FrameKind::ping) {
        send({FrameKind::pong, 0, {}, {}});
    } else if (frame.kind == FrameKind::request) {
        begin(std::move(frame));
    } else if (frame.kind == FrameKind::cancel) {
        auto requests = requests_.lock();
        const auto found = requests->find(frame.request);
        if (found != requests->end()) found->second.thread.request_stop();
    }
}

void Server::forget_finished()
{
    std::vector<std::jthread> over;  // joined without the lock
    auto requests = requests_.lock();
    for (auto& [number, request] : *requests) {
        if (request.over) over.push_back(std::move(request.thread));
    }
    std::erase_if(*requests, [](const auto& entry) { return entry.second.over; });
    requests.native().unlock();
}

void Server::begin(Frame frame)
{
    forget_finished();
    const auto number = frame.request;
    auto requests = requests_.lock();
    const bool full = requests->size() >= most_requests;
    if (full || requests->contains(number)) {
        requests.native().unlock();
        send({FrameKind::failure,
              number,
              error_to_json(Error(ErrorKind::unreachable,
                                  full ? "too many requests at once" : "this request is open")),
              {}});
        return;
    }
    auto& request = (*requests)[number];
    request.thread = std::jthread([this, frame = std::move(frame)](const std::stop_token& stop) {
        answer(frame, stop);
        auto all = requests_.lock();
        const auto found = all->find(frame.request);
        if (found != all->end()) found->second.over = true;
    });
}

void Server::answer(const Frame& frame, const std::stop_token& stop)
{
    const executor::Progress progress = [&](const std::string& line) {
        send({FrameKind::progress,
              frame.request,
              JsonObject{{"line", line.substr(0, longest_line)}},
              {}});
    };
    auto reply = calls_.carry_out(frame.head, frame.payload, progress, stop);
    if (reply) {
        send({FrameKind::answer, frame.request, std::move(reply->head), std::move(reply->payload)});
    } else {
        send({FrameKind::failure, frame.request, error_to_json(reply.error()), {}});
    }
}

void Server::send(const Frame& frame)
{
    auto bytes = encode(frame);
    if (!bytes)
        bytes = encode({FrameKind::failure, frame.request, error_to_json(bytes.error()), {}});
    if (bytes) writer_->put(std::move(*bytes));
}

}  // namespace ponk::agent

// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/link/agent_connection.hpp"

#include "base/text.hpp"
#include "executor/remote/wire/message.hpp"

#include <algorithm>
#include <utility>

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

// After so long without a word we ask whether the other side is there; after so long without any
// word at all it is not.
constexpr auto ask_after = 15s;
constexpr auto give_up_after = 45s;
constexpr std::size_t most_noise_shown = 300;
constexpr std::size_t most_waiting_lines = 500;

std::string shown(std::string_view text)
{
    return printable(trim(text).substr(0, most_noise_shown));
}

Error no_greeting(const GreetingFinder& finder, const Stream& stream, const Error& why)
{
    auto text = why.kind() == ErrorKind::timeout ? "ponk-agent did not start there in time"
                                                 : "ponk-agent did not start there";
    std::string said = shown(stream.complaint ? stream.complaint() : "");
    if (said.empty()) said = shown(finder.noise());
    const auto kind = why.kind() == ErrorKind::cancelled ? why.kind() : ErrorKind::unavailable;
    return {kind,
            said.empty() ? fmt::format("{} ({})", text, why.message())
                         : fmt::format("{}; output of the machine: {}", text, said)};
}

Result<FrameParser> skip_noise(const Stream& stream, Deadline deadline, const std::stop_token& stop)
{
    GreetingFinder finder;
    FrameParser parser;
    std::string rest;
    bool early = !stream.early.empty();
    for (;;) {
        const auto bytes = early ? Result<std::string>(stream.early)
                                 : read_some(stream.read.get(), deadline, stop);
        early = false;
        if (!bytes) return tl::unexpected(no_greeting(finder, stream, bytes.error()));
        if (bytes->empty()) {
            return tl::unexpected(
                no_greeting(finder, stream, Error(ErrorKind::unavailable, "it ended at once")));
        }
        const auto found = finder.take(*bytes, rest);
        if (!found) return tl::unexpected(no_greeting(finder, stream, found.error()));
        if (!*found) continue;
        parser.take(rest);
        return parser;
    }
}

Result<Frame> first_frame(const Stream& stream,
                          FrameParser& parser,
                          Deadline deadline,
                          const std::stop_token& stop)
{
    for (;;) {
        if (auto frame = TRY(parser.next())) return std::move(*frame);
        const auto bytes = TRY(read_some(stream.read.get(), deadline, stop));
        if (bytes.empty()) return fail(ErrorKind::unreachable, "ponk-agent ended at once");
        parser.take(bytes);
    }
}

}  // namespace

Result<std::shared_ptr<AgentConnection>>
AgentConnection::open(Stream stream, Deadline deadline, const std::stop_token& stop)
{
    make_nonblocking(stream.read.get());
    make_nonblocking(stream.write.get());
    const auto opened = [&]() -> Result<std::shared_ptr<AgentConnection>> {
        const auto ours = TRY(encode({FrameKind::hello, 0, hello_of_daemon(), {}}));
        // A program that ended instead has said why: that is read, not the broken pipe.
        const auto sent = write_patiently(stream.write.get(), ours, 10s, stop);
        auto parser = TRY(skip_noise(stream, deadline, stop));
        TRY(sent);
        const auto frame = TRY(first_frame(stream, parser, deadline, stop));
        if (frame.kind != FrameKind::hello)
            return fail(ErrorKind::damaged, "ponk-agent did not send a hello first");
        auto hello = TRY(parse_hello(frame.head));
        const auto& ours_there = stream.programs;
        if (!ours_there.empty() &&
            std::find(ours_there.begin(), ours_there.end(), hello.program) == ours_there.end())
            return fail(ErrorKind::damaged, "a different ponk-agent answered there");
        return std::shared_ptr<AgentConnection>(
            new AgentConnection(std::move(stream), std::move(parser), std::move(hello)));
    }();
    if (!opened && stream.end) stream.end();
    return opened;
}

AgentConnection::AgentConnection(Stream stream, FrameParser parser, Hello hello)
    : stream_(std::move(stream)), parser_(std::move(parser)), hello_(std::move(hello)),
      writer_(std::make_unique<FrameWriter>(stream_.write.get(),
                                            [this](const Error& error) { break_off(error); })),
      reader_([this](const std::stop_token& stop) { read(stop); })
{
}

AgentConnection::~AgentConnection()
{
    reader_.request_stop();
    reader_.join();
    writer_.reset();
    // The end of its input ends the other side; what carries the stream goes with it.
    stream_.write.reset();
    if (stream_.end) stream_.end();
}

std::optional<Error> AgentConnection::broken()
{
    return state_.lock()->broken;
}

void AgentConnection::break_off(const Error& why)
{
    auto said = stream_.complaint ? shown(stream_.complaint()) : std::string();
    std::function<void()> end;
    {
        auto state = state_.lock();
        if (state->broken) return;
        state->broken = Error(ErrorKind::unavailable,
                              said.empty() ? why.message() : why.message() + ": " + said);
        for (const auto& [number, waiting] : state->waiting) {
            if (!waiting->answer) waiting->answer = tl::unexpected(*state->broken);
        }
        state->waiting.clear();
        end = std::exchange(stream_.end, nullptr);
    }
    changed_.notify_all();
    // Whoever holds us may not look at us for long: what carried the stream goes now.
    if (end) end();
}

void AgentConnection::read(const std::stop_token& stop)
{
    auto heard = Deadline::clock::now();
    bool asked = false;
    // What came along with the hello.
    auto taken = take_frames({});
    while (taken && !stop.stop_requested()) {
        const auto limit = heard + (asked ? give_up_after : ask_after);
        const auto bytes = read_some(stream_.read.get(), limit, stop);
        if (bytes && !bytes->empty()) {
            heard = Deadline::clock::now();
            asked = false;
            taken = take_frames(*bytes);
        } else if (bytes) {
            taken = fail(ErrorKind::unavailable, "the connection was cut");
        } else if (bytes.error().kind() == ErrorKind::timeout && !asked) {
            asked = true;
            if (auto ping = encode({FrameKind::ping, 0, {}, {}})) writer_->put(*ping, stop);
        } else if (bytes.error().kind() == ErrorKind::timeout) {
            taken = fail(ErrorKind::unavailable, "the machine no longer answers");
            if (stream_.on_silence) stream_.on_silence();
        } else {
            taken = tl::unexpected(bytes.error());
        }
    }
    break_off(taken ? Error(ErrorKind::unavailable, "the connection was closed") : taken.error());
}

Result<> AgentConnection::take_frames(std::string_view bytes)
{
    parser_.take(bytes);
    while (auto frame = TRY(parser_.next()))
        take_frame(std::move(*frame));
    return {};
}

void AgentConnection::take_frame(Frame frame)
{
    auto state = state_.lock();
    const auto found = state->waiting.find(frame.request);
    if (found == state->waiting.end()) return;  // nobody waits any more, or a pong
    auto& mine = *found->second;
    if (frame.kind == FrameKind::progress) {
        // Who asked may be slow: what it has not heard yet is not kept without end.
        if (mine.lines.size() >= most_waiting_lines) mine.lines.pop_front();
        mine.lines.push_back(frame.head.text("line").substr(0, longest_line));
    } else if (frame.kind == FrameKind::answer) {
        mine.answer = Answer{std::move(frame.head), std::move(frame.payload)};
    } else if (frame.kind == FrameKind::failure) {
        mine.answer = tl::unexpected(parse_error(frame.head));
    } else {
        return;
    }
    changed_.notify_all();
}

Result<AgentConnection::Answer>
AgentConnection::call(Request request, Deadline deadline, const std::stop_token& stop)
{
    auto mine = std::make_shared<Waiting>();
    std::uint32_t number = 0;
    {
        auto state = state_.lock();
        if (state->broken) return tl::unexpected(*state->broken);
        do {
            number = state->next++;
        } while (number == 0 || state->waiting.contains(number));
        state->waiting.emplace(number, mine);
    }
    mine->progress = std::move(request.progress);
    request.head.set("call", request.call);
    auto bytes =
        encode({FrameKind::request, number, std::move(request.head), std::move(request.payload)});
    if (!bytes) {
        state_.lock()->waiting.erase(number);
        return tl::unexpected(bytes.error());
    }
    writer_->put(std::move(*bytes), stop);
    auto answer = wait_for(number, mine, deadline, stop);
    if (!answer && answer.error().kind() == ErrorKind::timeout)
        return tl::unexpected(
            answer.error().within(fmt::format("the machine did not answer '{}'", request.call)));
    return answer;
}

Result<AgentConnection::Answer> AgentConnection::wait_for(std::uint32_t number,
                                                          const std::shared_ptr<Waiting>& mine,
                                                          Deadline deadline,
                                                          const std::stop_token& stop)
{
    for (;;) {
        std::deque<std::string> lines;
        {
            auto state = state_.lock();
            const bool woken = changed_.wait_until(state.native(), stop, deadline, [&] {
                return mine->answer || !mine->lines.empty();
            });
            std::swap(lines, mine->lines);
            if (mine->answer && lines.empty()) {
                state->waiting.erase(number);
                return std::move(*mine->answer);
            }
            if (!woken) {
                state->waiting.erase(number);
                break;
            }
        }
        for (const auto& line : lines) {
            if (mine->progress) mine->progress(line);
        }
    }
    if (auto bytes = encode({FrameKind::cancel, number, {}, {}})) writer_->put(*bytes, stop);
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while waiting");
    return fail(ErrorKind::timeout, "timed out");
}

}  // namespace ponk::executor::remote

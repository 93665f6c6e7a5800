// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/remote/wire/frame.hpp"
#include "executor/remote/wire/frame_stream.hpp"
#include "executor/remote/wire/message.hpp"
#include "os/fd.hpp"
#include "os/wait.hpp"

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace ponk::executor::remote {

// A running `ponk-agent serve`, wherever it is: what it says, what it hears, and a way to end it.
struct Stream {
    os::Fd read;
    os::Fd write;
    // Ends whatever carries the stream; called once, from any thread.
    std::function<void()> end;
    // What was said beside the stream (standard error), for a message. May be empty.
    std::function<std::string()> complaint;
    // Nothing comes through any more although nothing was closed. May be empty.
    std::function<void()> on_silence = {};
    // Bytes that were read from it already.
    std::string early = {};
    // One of these must answer, by the SHA-256 of their files; empty: any.
    std::vector<std::string> programs = {};
};

// The daemon's end of one stream: any number of requests at once, each with a deadline and a stop
// token. When the line breaks every call fails with `unavailable`, and the object is of no more
// use. Any thread may call.
class AgentConnection {
public:
    struct Answer {
        Json head;
        std::string payload;
    };
    struct Request {
        std::string call;
        JsonObject head = {};
        std::string payload = {};
        std::function<void(const std::string& line)> progress = {};
    };

    // Waits for the greeting and the hello. `damaged` when something else answers or it speaks
    // another version of the protocol.
    static Result<std::shared_ptr<AgentConnection>>
    open(Stream stream, Deadline deadline, const std::stop_token& stop);
    ~AgentConnection();
    AgentConnection(const AgentConnection&) = delete;
    AgentConnection& operator=(const AgentConnection&) = delete;

    [[nodiscard]] const Hello& hello() const noexcept { return hello_; }
    // Why the line is dead; nullopt while it lives.
    [[nodiscard]] std::optional<Error> broken();

    // `timeout` past the deadline; `cancelled` soon after `stop`.
    Result<Answer> call(Request request, Deadline deadline, const std::stop_token& stop);

private:
    struct Waiting {
        std::function<void(const std::string& line)> progress;
        std::deque<std::string> lines;
        std::optional<Result<Answer>> answer;
    };
    struct State {
        std::map<std::uint32_t, std::shared_ptr<Waiting>> waiting;
        std::uint32_t next = 1;
        std::optional<Error> broken;
    };

    AgentConnection(Stream stream, FrameParser parser, Hello hello);
    void read(const std::stop_token& stop);
    Result<> take_frames(std::string_view bytes);
    void take_frame(Frame frame);
    void break_off(const Error& why);
    Result<Answer> wait_for(std::uint32_t number,
                            const std::shared_ptr<Waiting>& mine,
                            Deadline deadline,
                            const std::stop_token& stop);

    Stream stream_;
    FrameParser parser_;  // the reader's
    Hello hello_;
    Synced<State> state_;
    std::condition_variable_any changed_;
    std::unique_ptr<FrameWriter> writer_;
    std::jthread reader_;  // last
};

}  // namespace ponk::executor::remote

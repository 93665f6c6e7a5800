// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What travels between a daemon and the program `ponk-agent` on another machine, as bytes;
// docs/design/agent-protocol.md describes it.
namespace ponk::executor::remote {

enum class FrameKind : std::uint8_t {
    hello = 1,     // the first frame of each side
    request = 2,   // from the daemon; a number that is not in use names it
    answer = 3,    // the last word about a request
    failure = 4,   // the same, when it failed: an error
    progress = 5,  // a line for people about a request
    cancel = 6,    // the daemon no longer wants the answer
    ping = 7,
    pong = 8,
};

struct Frame {
    FrameKind kind = FrameKind::ping;
    std::uint32_t request = 0;  // 0: about none
    Json head;                  // an object, or null
    std::string payload;        // bytes that JSON would only make longer
};

// `invalid_argument` when a part is longer than what the other side accepts.
Result<std::string> encode(const Frame& frame);

// Stands before the first frame of ponk-agent: whatever a login shell says comes before it.
inline constexpr std::string_view greeting = "\n\x01ponk-agent-stream 1\n";

inline constexpr std::size_t frame_prefix = 16;
inline constexpr std::size_t longest_head = std::size_t{8} << 20;
inline constexpr std::size_t longest_payload = std::size_t{16} << 20;
// Of frames that only say a word: all but requests, answers and failures.
inline constexpr std::size_t longest_word = std::size_t{64} << 10;
// A line of progress is cut here.
inline constexpr std::size_t longest_line = 4096;

// Takes bytes as they come and gives frames. One thread.
class FrameParser {
public:
    void take(std::string_view bytes);
    // nullopt: more bytes are needed. `damaged` when these are not frames; nothing comes after it.
    Result<std::optional<Frame>> next();

private:
    std::string buffer_;
    std::size_t at_ = 0;
};

// Skips what comes before the greeting. One thread.
class GreetingFinder {
public:
    static constexpr std::size_t patience = std::size_t{64} << 10;

    // True once the greeting is over; `rest` is then what followed it. `damaged` past the patience.
    Result<bool> take(std::string_view bytes, std::string& rest);
    // What was said before, for a message.
    [[nodiscard]] std::string_view noise() const noexcept { return seen_; }

private:
    std::string seen_;
};

}  // namespace ponk::executor::remote

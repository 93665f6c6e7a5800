// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ponk::net {

// Understands the frames that a client sends on a WebSocket (RFC 6455) from its bytes as they come:
// text only, no extensions. Does no I/O. Not for several threads.
class FrameReader {
public:
    // more: bytes are needed; message, ping, pong, close: one has come, `take` gives its content;
    // bad: what came is not allowed, `problem` says why, and nothing more can be read.
    enum class Step { more, message, ping, pong, close, bad };

    // No message is longer than `longest` bytes.
    explicit FrameReader(std::size_t longest) : longest_(longest) {}

    // Takes what it uses away from the beginning of `bytes`.
    Step read(std::string_view& bytes);
    std::string take();
    [[nodiscard]] const Dialogue::Closing& problem() const { return problem_; }

private:
    enum class Kind : std::uint8_t { text = 1, close = 8, ping = 9, pong = 10 };

    [[nodiscard]] std::size_t head_size() const;
    bool check_head();
    bool begin_content();
    void take_content(std::string_view& bytes);
    Step finish();
    Step fail(int code, std::string reason);

    std::size_t longest_;
    std::string head_;     // as far as it came
    std::string message_;  // of all frames so far
    std::string control_;
    Kind kind_ = Kind::text;
    bool is_last_ = true;
    bool in_message_ = false;  // more frames of it are to come
    bool in_content_ = false;
    std::uint64_t left_ = 0;
    std::size_t at_ = 0;  // in the content, for the mask
    Step last_ = Step::more;
    Dialogue::Closing problem_;
};

// Frames of a server.
std::string text_frame(std::string_view text);
std::string ping_frame();
std::string pong_frame(std::string_view content);
std::string close_frame(const Dialogue::Closing& closing);

}  // namespace ponk::net

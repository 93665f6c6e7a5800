// SPDX-License-Identifier: Apache-2.0
#include "net/frames.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace ponk::net {

namespace {

constexpr unsigned final_bit = 0x80;
constexpr unsigned mask_bit = 0x80;
constexpr unsigned reserved_bits = 0x70;
constexpr unsigned kind_bits = 0x0f;
constexpr unsigned size_bits = 0x7f;
constexpr unsigned continuation_kind = 0;
constexpr unsigned text_kind = 1;
constexpr unsigned binary_kind = 2;
constexpr unsigned close_kind = 8;
constexpr unsigned ping_kind = 9;
constexpr unsigned pong_kind = 10;
constexpr unsigned two_byte_size = 126;
constexpr unsigned eight_byte_size = 127;
constexpr std::size_t mask_size = 4;
constexpr std::size_t largest_control = 125;

unsigned byte_of(const std::string& text, std::size_t at)
{
    return static_cast<unsigned char>(text[at]);
}

std::string frame(unsigned kind, std::string_view content)
{
    std::string bytes;
    const auto add = [&bytes](std::uint64_t value) { bytes += static_cast<char>(value & 0xff); };
    add(final_bit | kind);
    const std::uint64_t size = content.size();
    if (size < two_byte_size) {
        add(size);
    } else {
        const bool is_short = size <= 0xffff;
        add(is_short ? two_byte_size : eight_byte_size);
        for (int shift = is_short ? 8 : 56; shift >= 0; shift -= 8)
            add(size >> shift);
    }
    bytes += content;
    return bytes;
}

}  // namespace

// As far as it is known by now.
std::size_t FrameReader::head_size() const
{
    if (head_.size() < 2) return 2;
    const auto size = byte_of(head_, 1) & size_bits;
    const std::size_t more = size == two_byte_size ? 2 : (size == eight_byte_size ? 8 : 0);
    return 2 + more + mask_size;
}

FrameReader::Step FrameReader::read(std::string_view& bytes)
{
    if (last_ == Step::bad) return last_;
    for (;;) {
        if (!in_content_) {
            const auto part = bytes.substr(0, head_size() - head_.size());
            const bool was_short = head_.size() < 2;
            head_ += part;
            bytes.remove_prefix(part.size());
            if (was_short && head_.size() >= 2 && !check_head()) return last_;
            if (head_.size() < head_size()) {
                if (bytes.empty()) return Step::more;
                continue;
            }
            if (!begin_content()) return last_;
        }
        take_content(bytes);
        if (left_ > 0) return Step::more;
        const auto step = finish();
        if (step != Step::more) return step;
    }
}

// What its first two bytes say.
bool FrameReader::check_head()
{
    const auto first = byte_of(head_, 0);
    const auto second = byte_of(head_, 1);
    const auto kind = first & kind_bits;
    const bool is_control = kind >= close_kind;
    is_last_ = (first & final_bit) != 0;
    if ((first & reserved_bits) != 0) {
        fail(1002, "a frame uses an extension that was not agreed on");
    } else if ((second & mask_bit) == 0) {
        fail(1002, "a frame of a client has no mask");
    } else if (kind == binary_kind) {
        fail(1003, "only text is understood here");
    } else if (kind > pong_kind || (kind > binary_kind && kind < close_kind)) {
        fail(1002, "a frame has no known kind");
    } else if (is_control && (!is_last_ || (second & size_bits) > largest_control)) {
        fail(1002, "a control frame is too large or in parts");
    } else if (!is_control && in_message_ != (kind == continuation_kind)) {
        fail(1002, "frames of messages are out of order");
    } else {
        kind_ = is_control ? static_cast<Kind>(kind) : Kind::text;
        return true;
    }
    return false;
}

bool FrameReader::begin_content()
{
    left_ = byte_of(head_, 1) & size_bits;
    if (left_ >= two_byte_size) {
        left_ = 0;
        for (std::size_t at = 2; at < head_.size() - mask_size; ++at)
            left_ = left_ << 8 | byte_of(head_, at);
    }
    at_ = 0;
    in_content_ = true;
    if (kind_ != Kind::text) {
        control_.clear();
        return true;
    }
    if (!in_message_) message_.clear();
    if (left_ <= longest_ - message_.size()) return true;
    fail(1009, fmt::format("a message has more than {} bytes", longest_));
    return false;
}

void FrameReader::take_content(std::string_view& bytes)
{
    auto& into = kind_ == Kind::text ? message_ : control_;
    const auto part =
        bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
    const auto mask = head_.size() - mask_size;
    for (const char byte : part)
        into += static_cast<char>(byte ^ head_[mask + at_++ % mask_size]);
    left_ -= part.size();
    bytes.remove_prefix(part.size());
}

FrameReader::Step FrameReader::finish()
{
    in_content_ = false;
    head_.clear();
    if (kind_ == Kind::ping) return last_ = Step::ping;
    if (kind_ == Kind::pong) return last_ = Step::pong;
    if (kind_ == Kind::close) return last_ = Step::close;
    in_message_ = !is_last_;
    if (in_message_) return Step::more;
    if (!is_utf8(message_)) return fail(1007, "a message is not UTF-8");
    return last_ = Step::message;
}

std::string FrameReader::take()
{
    return std::exchange(last_ == Step::message ? message_ : control_, {});
}

FrameReader::Step FrameReader::fail(int code, std::string reason)
{
    problem_ = {code, std::move(reason)};
    return last_ = Step::bad;
}

std::string text_frame(std::string_view content)
{
    return frame(text_kind, content);
}

std::string ping_frame()
{
    return frame(ping_kind, "");
}

std::string pong_frame(std::string_view content)
{
    return frame(pong_kind, content.substr(0, largest_control));
}

std::string close_frame(const Dialogue::Closing& closing)
{
    std::string content;
    content += static_cast<char>(closing.code >> 8 & 0xff);
    content += static_cast<char>(closing.code & 0xff);
    content += closing.reason;
    // Cut at the beginning of a character.
    std::size_t size = std::min(content.size(), largest_control);
    while (size < content.size() && (static_cast<unsigned char>(content[size]) & 0xc0) == 0x80)
        --size;
    return frame(close_kind, std::string_view(content).substr(0, size));
}

}  // namespace ponk::net

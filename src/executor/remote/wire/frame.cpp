// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/wire/frame.hpp"

#include <algorithm>

namespace ponk::executor::remote {

namespace {

// Once that much was taken it is worth moving the rest to the front.
constexpr std::size_t compact_above = std::size_t{1} << 20;

void put_number(std::string& out, std::uint32_t value)
{
    for (int shift = 0; shift < 32; shift += 8)
        out += static_cast<char>((value >> shift) & 0xffU);
}

std::uint32_t number_at(std::string_view bytes, std::size_t at)
{
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;)
        value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

bool is_kind(unsigned char byte)
{
    return byte >= static_cast<unsigned char>(FrameKind::hello) &&
           byte <= static_cast<unsigned char>(FrameKind::pong);
}

bool carries_much(unsigned char kind)
{
    return kind >= static_cast<unsigned char>(FrameKind::request) &&
           kind <= static_cast<unsigned char>(FrameKind::failure);
}

std::size_t most_head(unsigned char kind)
{
    return carries_much(kind) ? longest_head : longest_word;
}

std::size_t most_payload(unsigned char kind)
{
    return carries_much(kind) ? longest_payload : 0;
}

}  // namespace

Result<std::string> encode(const Frame& frame)
{
    const auto head = frame.head.is_null() ? std::string() : to_json(frame.head);
    const auto kind = static_cast<unsigned char>(frame.kind);
    if (head.size() > most_head(kind) || frame.payload.size() > most_payload(kind)) {
        return fail(ErrorKind::invalid_argument,
                    "a message of {} and {} bytes is too long for ponk-agent",
                    head.size(),
                    frame.payload.size());
    }
    std::string out;
    out.reserve(frame_prefix + head.size() + frame.payload.size());
    put_number(out, static_cast<std::uint32_t>(head.size()));
    put_number(out, static_cast<std::uint32_t>(frame.payload.size()));
    put_number(out, frame.request);
    out += static_cast<char>(frame.kind);
    out.append(3, '\0');
    out += head;
    out += frame.payload;
    return out;
}

void FrameParser::take(std::string_view bytes)
{
    if (at_ == buffer_.size() || at_ > compact_above) {
        buffer_.erase(0, at_);
        at_ = 0;
    }
    buffer_.append(bytes);
}

Result<std::optional<Frame>> FrameParser::next()
{
    const auto rest = std::string_view(buffer_).substr(at_);
    if (rest.size() < frame_prefix) return std::nullopt;
    const std::size_t head_size = number_at(rest, 0);
    const std::size_t payload_size = number_at(rest, 4);
    const auto kind = static_cast<unsigned char>(rest[12]);
    if (!is_kind(kind) || head_size > most_head(kind) || payload_size > most_payload(kind) ||
        rest.substr(13, 3) != std::string_view("\0\0\0", 3))
        return fail(ErrorKind::damaged, "the other side sent something that is not a message");
    if (rest.size() < frame_prefix + head_size + payload_size) return std::nullopt;
    Frame frame;
    frame.kind = static_cast<FrameKind>(kind);
    frame.request = number_at(rest, 8);
    if (head_size > 0) {
        frame.head = TRY(parse_json(rest.substr(frame_prefix, head_size), {.bytes = longest_head})
                             .map_error([](const Error& error) {
                                 return Error(ErrorKind::damaged,
                                              "the head of a message: " + error.message());
                             }));
        if (!frame.head.is_object())
            return fail(ErrorKind::damaged, "the head of a message is not a JSON object");
    }
    frame.payload = rest.substr(frame_prefix + head_size, payload_size);
    at_ += frame_prefix + head_size + payload_size;
    return frame;
}

Result<bool> GreetingFinder::take(std::string_view bytes, std::string& rest)
{
    // The greeting may be split between two reads.
    const auto from = seen_.size() - std::min(seen_.size(), greeting.size());
    seen_.append(bytes);
    const auto found = seen_.find(greeting, from);
    if (found != std::string::npos) {
        rest = seen_.substr(found + greeting.size());
        seen_.resize(found);
        return true;
    }
    if (seen_.size() > patience)
        return fail(ErrorKind::damaged, "received 64 KiB of text, but no greeting of ponk-agent");
    return false;
}

}  // namespace ponk::executor::remote

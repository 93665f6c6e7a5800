// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal_filter.hpp"

#include "base/text.hpp"
#include "cli/terminal/pager.hpp"
#include "os/file.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr std::size_t longest_colour = 64;

void show(std::string& out, unsigned char byte)
{
    constexpr char digits[] = "0123456789abcdef";
    out += "\\x";
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
}

// How much of `text` (which starts with ESC) is a colour sequence: its length, 0 for something
// else, npos when more bytes are needed to tell.
std::size_t colour_length(std::string_view text)
{
    if (text.size() < 2) return text.npos;
    if (text[1] != '[') return 0;
    for (std::size_t at = 2; at < text.size(); ++at) {
        const char c = text[at];
        if (c == 'm') return at + 1;
        if (!((c >= '0' && c <= '9') || c == ';' || c == ':')) return 0;
        if (at >= longest_colour) return 0;
    }
    return text.npos;
}

// The number of bytes that the first one announces in UTF-8; 0 when it cannot be a first one.
std::size_t announced(unsigned char first)
{
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    if (first >= 0xf0 && first <= 0xf4) return 4;
    return 0;
}

bool may_continue(std::string_view text)
{
    for (std::size_t i = 1; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80) return false;
    }
    return text.size() < announced(static_cast<unsigned char>(text[0]));
}

bool is_second_control_set(std::string_view sequence)
{
    return sequence.size() == 2 && sequence[0] == '\xc2' &&
           static_cast<unsigned char>(sequence[1]) < 0xa0;
}

}  // namespace

bool TerminalFilter::passes(unsigned char byte) const
{
    if ((byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\t') return true;
    return passing_ == Passing::log && (byte == '\r' || byte == '\b');
}

void TerminalFilter::feed(std::string_view bytes, std::string& out)
{
    std::string joined;
    if (!held_.empty()) {
        joined = std::move(held_);
        held_.clear();
        joined += bytes;
        bytes = joined;
    }
    std::size_t at = 0;
    while (at < bytes.size()) {
        std::size_t plain = at;
        while (plain < bytes.size() && passes(static_cast<unsigned char>(bytes[plain])))
            ++plain;
        out.append(bytes, at, plain - at);
        at = plain;
        if (at == bytes.size()) return;
        const std::string_view left = bytes.substr(at);
        if (left[0] == '\x1b' && passing_ != Passing::text) {
            const std::size_t length = colour_length(left);
            if (length == left.npos) {
                held_ = left;
                return;
            }
            if (length > 0) {
                out += left.substr(0, length);
                at += length;
                continue;
            }
        } else if (const std::size_t length = utf8_sequence(left); length > 1) {
            const std::string_view sequence = left.substr(0, length);
            if (is_second_control_set(sequence)) {
                for (const char c : sequence)
                    show(out, static_cast<unsigned char>(c));
            } else if (left[0] == '\xe2' || left[0] == '\xd8') {
                out += printable(sequence);  // where the characters of direction are
            } else {
                out += sequence;
            }
            at += length;
            continue;
        } else if (may_continue(left)) {
            held_ = left;
            return;
        }
        show(out, static_cast<unsigned char>(left[0]));
        ++at;
    }
}

void TerminalFilter::finish(std::string& out)
{
    for (const char c : held_) {
        const auto byte = static_cast<unsigned char>(c);
        if (passes(byte)) {
            out += c;
        } else {
            show(out, byte);
        }
    }
    held_.clear();
}

Result<> write_out(int fd, std::string_view text, Passing passing)
{
    if (passing == Passing::all || ::isatty(fd) != 1) return os::write_all(Pager::way_of(fd), text);
    TerminalFilter filter(passing);
    std::string shown;
    filter.feed(text, shown);
    filter.finish(shown);
    return os::write_all(Pager::way_of(fd), shown);
}

Result<> print_text(std::string_view text, Passing passing)
{
    return write_out(STDOUT_FILENO, text, passing).map_error([](const Error& error) {
        return Error(ErrorKind::damaged, "standard output: " + error.message());
    });
}

}  // namespace ponk::cli

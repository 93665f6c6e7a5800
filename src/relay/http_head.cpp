// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "relay/http.hpp"

#include <algorithm>
#include <charconv>

namespace ponk::relay {

namespace {

constexpr std::size_t most_headers = 100;

bool is_token(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

// Visible characters, blanks and tabs, and bytes beyond ASCII.
bool is_value(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= ' ' ? c != '\x7f' : c == '\t';
    });
}

tl::unexpected<Error> refuse(std::string_view why)
{
    return fail(ErrorKind::invalid_argument, "not an HTTP request: {}", why);
}

Result<> read_request_line(std::string_view line, Head& head)
{
    const auto words = split(line, ' ');
    if (words.size() != 3 || !is_token(words[0])) return refuse("its first line");
    const auto& target = words[1];
    const bool plain =
        std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (!target.starts_with('/') || !plain) return refuse("its path");
    if (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0") return refuse("its version");
    head.method = words[0];
    head.target = target;
    head.keep_alive = words[2] == "HTTP/1.1";
    return {};
}

Result<> read_header(std::string_view line, Head& head)
{
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
        return refuse("a header");
    const auto value = trim(line.substr(colon + 1));
    if (!is_value(value)) return refuse("a header's value");
    if (head.headers.size() == most_headers) return refuse("too many headers");
    head.headers.emplace_back(std::string(line.substr(0, colon)), std::string(value));
    return {};
}

// How long the body is, said once and in one way.
Result<> find_length(Head& head)
{
    std::size_t said = 0;
    for (const auto& [name, value] : head.headers) {
        if (same_ignoring_case(name, "Content-Length")) {
            const auto* end = value.data() + value.size();
            const auto [stop, problem] = std::from_chars(value.data(), end, head.length);
            if (value.empty() || problem != std::errc() || stop != end) return refuse("its length");
            ++said;
        } else if (same_ignoring_case(name, "Transfer-Encoding")) {
            if (!same_ignoring_case(value, "chunked")) return refuse("its coding");
            head.chunked = true;
            ++said;
        }
    }
    if (said > 1) return refuse("two lengths");
    return {};
}

}  // namespace

std::string Head::header(std::string_view name) const
{
    for (const auto& [key, value] : headers) {
        if (same_ignoring_case(key, name)) return value;
    }
    return {};
}

Result<Head> parse_head(std::string_view text)
{
    Head head;
    bool first = true;
    while (!text.empty()) {
        const auto end = text.find("\r\n");
        if (end == std::string_view::npos) return refuse("cut off");
        const auto line = text.substr(0, end);
        text.remove_prefix(end + 2);
        if (line.empty()) {
            if (first || !text.empty()) return refuse("an empty line");
            TRY(find_length(head));
            const auto connection = lower(head.header("Connection"));
            if (connection.find("close") != std::string::npos) head.keep_alive = false;
            head.expects_continue = same_ignoring_case(head.header("Expect"), "100-continue");
            return head;
        }
        TRY(first ? read_request_line(line, head) : read_header(line, head));
        first = false;
    }
    return refuse("cut off");
}

Result<std::uint64_t> parse_chunk_size(std::string_view line)
{
    const auto digits = line.substr(0, line.find(';'));
    std::uint64_t size = 0;
    const auto* end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, size, 16);
    if (digits.empty() || digits.size() > 15 || problem != std::errc() || stop != end)
        return refuse("the size of a chunk");
    return size;
}

}  // namespace ponk::relay

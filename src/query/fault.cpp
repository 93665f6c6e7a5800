// SPDX-License-Identifier: Apache-2.0
#include "query/fault.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::query {

namespace {

constexpr std::size_t shown_before = 50;  // bytes of a long expression around the caret
constexpr std::size_t shown_after = 25;

const char* name_of(Fault fault)
{
    switch (fault) {
    case Fault::syntax:
        return "syntax";
    case Fault::unknown_function:
        return "unknown-function";
    case Fault::invalid_arity:
        return "invalid-arity";
    case Fault::invalid_type:
        return "invalid-type";
    case Fault::invalid_value:
        return "invalid-value";
    case Fault::too_much_work:
        return "too-much-work";
    }
    return "syntax";
}

bool continues_character(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}

// The nearest start of a character at or before `at`.
std::size_t character_start(std::string_view text, std::size_t at)
{
    const auto lowest = at > 3 ? at - 3 : 0;
    auto start = std::min(at, text.size());
    while (start > lowest && start < text.size() && continues_character(text[start]))
        --start;
    return start;
}

std::string excerpt(std::string_view text, std::size_t at)
{
    auto begin = std::size_t{0};
    auto end = text.size();
    if (text.size() > shown_before + shown_after) {
        begin = at > shown_before ? character_start(text, at - shown_before) : 0;
        end = character_start(text, std::min(text.size(), at + shown_after));
    }
    const auto lead = (begin > 0 ? "..." : "") + printable(text.substr(begin, at - begin));
    const auto rest = printable(text.substr(at, end - at)) + (end < text.size() ? "..." : "");
    return fmt::format("\n  {}{}\n  {:{}}^", lead, rest, "", display_width(lead));
}

}  // namespace

Error error_at(std::string_view label,
               std::string_view text,
               std::size_t at,
               std::string_view what,
               std::string hint)
{
    at = std::min(at, text.size());
    return {ErrorKind::invalid_argument,
            fmt::format("{} at column {}: {}{}",
                        label,
                        utf8_length(text.substr(0, at)) + 1,
                        what,
                        excerpt(text, at)),
            std::move(hint)};
}

Error make_fault(Fault fault,
                 std::string_view expression,
                 std::size_t at,
                 std::string_view what,
                 std::string hint)
{
    return error_at(name_of(fault), expression, at, what, std::move(hint));
}

}  // namespace ponk::query

// SPDX-License-Identifier: Apache-2.0
#include "config/text/flow_depth.hpp"

namespace ponk::config {

namespace {

constexpr std::string_view blanks = " \t\r\n";

// Behind a quoted text that begins at `at`. In double quotes a backslash hides what follows it; in
// single quotes two quotes are one, which reads as two texts side by side.
std::size_t behind_quoted(std::string_view text, std::size_t at)
{
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at) {
        if (quote == '"' && text[at] == '\\') ++at;
    }
    return at + 1;
}

}  // namespace

std::optional<std::size_t> find_too_deep_flow(std::string_view text, std::size_t limit)
{
    constexpr std::string_view before_value = "[{,:-";  // besides blanks
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const char before = at == 0 ? '\n' : text[at - 1];
        const bool behind_blank = blanks.find(before) != std::string_view::npos;
        // Outside of brackets, text may hold them: there only a blank comes before a value.
        const bool begins =
            behind_blank || (depth > 0 && before_value.find(before) != std::string_view::npos);
        if (c == '#' && behind_blank) {
            at = text.find('\n', at);
            if (at == std::string_view::npos) break;
        } else if (begins && (c == '[' || c == '{')) {
            if (++depth > limit) return at;
        } else if (depth > 0 && (c == ']' || c == '}')) {
            --depth;
        } else if (begins && (c == '"' || c == '\'')) {
            at = behind_quoted(text, at) - 1;
        }
    }
    return std::nullopt;
}

}  // namespace ponk::config

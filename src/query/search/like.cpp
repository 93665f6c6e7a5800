// SPDX-License-Identifier: Apache-2.0
#include "query/search/like.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <optional>

namespace ponk::query::search {

namespace {

char folded(char c, Letters letters)
{
    return letters == Letters::ascii_folded && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

std::size_t character(std::string_view text)
{
    return std::max<std::size_t>(utf8_sequence(text), 1);
}

// Where a match may be tried again: the last '%' takes one character more.
struct Retry {
    std::size_t pattern;
    std::size_t text;
};

}  // namespace

bool matches_like(std::string_view pattern, std::string_view text, Letters letters)
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::optional<Retry> retry;
    for (;;) {
        if (p < pattern.size() && pattern[p] == '%') {
            retry = Retry{++p, t};
            continue;
        }
        if (t == text.size()) return p == pattern.size();
        if (p < pattern.size() && pattern[p] == '_') {
            ++p;
            t += character(text.substr(t));
            continue;
        }
        if (p < pattern.size() && folded(pattern[p], letters) == folded(text[t], letters)) {
            ++p;
            ++t;
            continue;
        }
        // What an earlier '%' could take, the last one can take too: no other needs a retry.
        if (!retry) return false;
        retry->text += character(text.substr(retry->text));
        p = retry->pattern;
        t = retry->text;
    }
}

}  // namespace ponk::query::search

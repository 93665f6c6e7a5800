// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::query::search {

enum class TokenKind { end, name, text, number, comparison, left_paren, right_paren, comma };

// How a piece of a name, or a text, is quoted.
enum class Quote { none, backtick, double_quote, single_quote };

struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t at = 0;  // byte offset in the text
    std::size_t length = 0;
    // A name up to its first dot, or a text without its quotes.
    std::string_view text = {};
    Quote quote = Quote::none;
    // Of a name with a dot: what follows it.
    std::optional<std::string_view> rest = std::nullopt;
    std::size_t rest_at = 0;
    // Where in `rest` a last part in quotes begins, which it has with them: metadata.`a-b`.
    std::optional<std::size_t> quoted_from = std::nullopt;
    double number = 0;
};

// The last token is always `end`. Errors begin with `label`.
Result<std::vector<Token>> read_tokens(std::string_view label, std::string_view text);

// Whether a key can follow its dot without quotes.
bool is_plain_key(std::string_view key);

}  // namespace ponk::query::search

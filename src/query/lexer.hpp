// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace ponk::query {

enum class TokenKind {
    end,
    identifier,
    quoted_identifier,
    number,
    literal,
    dot,
    star,
    flatten,  // []
    filter,   // [?
    left_bracket,
    right_bracket,
    left_brace,
    right_brace,
    left_paren,
    right_paren,
    comma,
    colon,
    pipe,
    either,  // ||
    both,    // &&
    negate,  // !
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    current,
    reference  // &
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::size_t at = 0;  // byte offset in the expression
    std::size_t length = 0;
    Json value = {};  // a name, a number or the literal
};

// The last token is always `end`.
Result<std::vector<Token>> read_tokens(std::string_view expression);

}  // namespace ponk::query

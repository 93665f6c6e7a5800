// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/lexer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::query {

// A place in the tokens of an expression, and the errors that name it.
class TokenCursor {
public:
    TokenCursor(std::string_view text, std::vector<Token> tokens)
        : text_(text), tokens_(std::move(tokens))
    {
    }

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] const Token& peek() const { return tokens_[next_]; }
    [[nodiscard]] TokenKind kind() const { return peek().kind; }
    // Of the token behind this one, which is not the end.
    [[nodiscard]] TokenKind kind_after() const { return tokens_[next_ + 1].kind; }

    // The end is never passed.
    const Token& take();
    // Undoes the last take.
    void give_back(const Token& token);
    bool take_if(TokenKind wanted);
    Result<> expect(TokenKind wanted, std::string_view described);

    // What is here is not what was expected.
    [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted) const;
    [[nodiscard]] tl::unexpected<Error>
    wrong(std::size_t at, std::string_view what, std::string hint = {}) const;

private:
    [[nodiscard]] std::string advice(const Token& token) const;

    std::string_view text_;
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
};

}  // namespace ponk::query

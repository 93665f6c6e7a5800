// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "query/search/grammar.hpp"
#include "query/search/lexer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::query::search {

// A name that the grammar knows.
struct Resolved {
    const Family* family = nullptr;
    const Key* key = nullptr;
    std::string name;       // the key's first name
    std::string_view text;  // as it was written
};

// A place in the tokens of a text, and the errors that name it, which begin with `label`.
class Cursor {
public:
    static Result<Cursor> open(std::string_view label, std::string_view text);

    [[nodiscard]] const Token& peek() const { return tokens_[next_]; }
    [[nodiscard]] bool at_end() const { return peek().kind == TokenKind::end; }
    // As it was written, quotes too.
    [[nodiscard]] std::string_view written(const Token& token) const;
    // The end is never passed.
    const Token& take();
    bool take_if(TokenKind wanted);
    // Keywords have any case and no quotes.
    [[nodiscard]] bool is_keyword(const Token& token, std::string_view keyword) const;
    bool take_keyword(std::string_view keyword);

    // A name of the grammar that serves the purpose.
    Result<Resolved> name(const Grammar& grammar, Purpose purpose);

    // What is here is not what was expected.
    [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted,
                                                   std::string hint = {}) const;
    [[nodiscard]] tl::unexpected<Error>
    wrong(std::size_t at, std::string_view what, std::string hint = {}) const;

private:
    Cursor(std::string_view label, std::string_view text, std::vector<Token> tokens)
        : label_(label), text_(text), tokens_(std::move(tokens))
    {
    }
    [[nodiscard]] tl::unexpected<Error> no_name() const;
    [[nodiscard]] tl::unexpected<Error>
    no_entity(const Grammar& grammar, const Token& token, Purpose purpose) const;
    [[nodiscard]] tl::unexpected<Error>
    no_key(const Family& family, const Token& token, std::string_view name, Purpose purpose) const;

    std::string_view label_;
    std::string_view text_;
    std::vector<Token> tokens_;
    std::size_t next_ = 0;
};

}  // namespace ponk::query::search

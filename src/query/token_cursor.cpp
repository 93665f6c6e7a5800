// SPDX-License-Identifier: Apache-2.0
#include "query/token_cursor.hpp"

#include "base/text.hpp"
#include "query/fault.hpp"
#include "query/operators.hpp"

#include <fmt/format.h>

namespace ponk::query {

const Token& TokenCursor::take()
{
    const auto& token = tokens_[next_];
    if (token.kind != TokenKind::end) ++next_;
    return token;
}

void TokenCursor::give_back(const Token& token)
{
    if (token.kind != TokenKind::end) --next_;
}

bool TokenCursor::take_if(TokenKind wanted)
{
    if (kind() != wanted) return false;
    take();
    return true;
}

Result<> TokenCursor::expect(TokenKind wanted, std::string_view described)
{
    if (!take_if(wanted)) return unexpected(described);
    return {};
}

tl::unexpected<Error> TokenCursor::unexpected(std::string_view wanted) const
{
    const auto& token = peek();
    const auto found =
        token.kind == TokenKind::end
            ? std::string("the expression ends")
            : fmt::format("found '{}'", printable(text_.substr(token.at, token.length)));
    return wrong(token.at, fmt::format("expected {}, but {}", wanted, found), advice(token));
}

// The mistakes that people who know other query languages make.
std::string TokenCursor::advice(const Token& token) const
{
    const auto before = next_ > 0 ? tokens_[next_ - 1].kind : TokenKind::end;
    if (token.kind == TokenKind::number)
        return fmt::format("Write a number as a literal: `{}`.", token.value.as_integer());
    if (token.kind == TokenKind::reference)
        return "'&' is allowed only before an argument of a function; the operator is '&&'.";
    if (token.kind == TokenKind::identifier) {
        const auto word = lower(token.value.as_string());
        if (word == "and") return "Write '&&' for 'and'.";
        if (word == "or") return "Write '||' for 'or'.";
    }
    if (power_of(before) == power::comparison)
        return "Put the whole query in single quotes: a shell runs `…` inside double quotes "
               "as a command.";
    return {};
}

tl::unexpected<Error>
TokenCursor::wrong(std::size_t at, std::string_view what, std::string hint) const
{
    return tl::unexpected(make_fault(Fault::syntax, text_, at, what, std::move(hint)));
}

}  // namespace ponk::query

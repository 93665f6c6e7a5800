// SPDX-License-Identifier: Apache-2.0
#include "query/lexer.hpp"

#include "base/text.hpp"
#include "query/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace ponk::query {

namespace {

struct Symbol {
    std::string_view text;
    TokenKind kind;
};

// A longer symbol stands before its own beginning.
constexpr std::array symbols{
    Symbol{"[]", TokenKind::flatten},     Symbol{"[?", TokenKind::filter},
    Symbol{"||", TokenKind::either},      Symbol{"&&", TokenKind::both},
    Symbol{"==", TokenKind::equal},       Symbol{"!=", TokenKind::not_equal},
    Symbol{"<=", TokenKind::less_equal},  Symbol{">=", TokenKind::greater_equal},
    Symbol{"<", TokenKind::less},         Symbol{">", TokenKind::greater},
    Symbol{"[", TokenKind::left_bracket}, Symbol{"]", TokenKind::right_bracket},
    Symbol{"{", TokenKind::left_brace},   Symbol{"}", TokenKind::right_brace},
    Symbol{"(", TokenKind::left_paren},   Symbol{")", TokenKind::right_paren},
    Symbol{".", TokenKind::dot},          Symbol{"*", TokenKind::star},
    Symbol{",", TokenKind::comma},        Symbol{":", TokenKind::colon},
    Symbol{"|", TokenKind::pipe},         Symbol{"!", TokenKind::negate},
    Symbol{"@", TokenKind::current},      Symbol{"&", TokenKind::reference},
};

bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// `text` with each backslash before `quote` taken away; other backslashes stay.
std::string without_escapes_of(char quote, std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == quote) continue;
        out += text[i];
    }
    return out;
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Result<std::vector<Token>> all()
    {
        std::vector<Token> tokens;
        for (;;) {
            while (at_ < text_.size() && is_blank(text_[at_]))
                ++at_;
            if (at_ == text_.size()) break;
            const auto start = at_;
            auto token = TRY(next());
            token.at = start;
            token.length = at_ - start;
            tokens.push_back(std::move(token));
        }
        tokens.push_back({TokenKind::end, text_.size(), 0, {}});
        return tokens;
    }

private:
    Result<Token> next()
    {
        const char c = text_[at_];
        if (starts_name(c)) return name();
        if (is_digit(c) || c == '-') return number();
        if (c == '"') return quoted_name();
        if (c == '\'') return raw_string();
        if (c == '`') return literal();
        for (const auto& symbol : symbols) {
            if (text_.substr(at_, symbol.text.size()) != symbol.text) continue;
            at_ += symbol.text.size();
            return Token{symbol.kind};
        }
        return unknown_character();
    }

    Token name()
    {
        const auto start = at_;
        while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_])))
            ++at_;
        return {TokenKind::identifier, 0, 0, text_.substr(start, at_ - start)};
    }

    Result<Token> number()
    {
        const auto start = at_;
        if (text_[at_] == '-') ++at_;
        const auto digits = at_;
        while (at_ < text_.size() && is_digit(text_[at_]))
            ++at_;
        if (at_ == digits)
            return wrong(
                start, "a digit must follow '-'", "A name with '-' in it needs double quotes.");
        // No list is so long that it mattered where exactly a number beyond 64 bits points.
        using Limits = std::numeric_limits<std::int64_t>;
        const auto farthest = digits > start ? Limits::min() : Limits::max();
        return Token{TokenKind::number,
                     0,
                     0,
                     parse_integer(text_.substr(start, at_ - start)).value_or(farthest)};
    }

    Result<Token> quoted_name()
    {
        const auto start = at_;
        TRY(delimited('"', "a name in double quotes"));
        auto value = parse_json(text_.substr(start, at_ - start));
        if (!value)
            return wrong(start,
                         "the name in double quotes is not a JSON string: " +
                             value.error().message());
        return Token{TokenKind::quoted_identifier, 0, 0, std::move(*value)};
    }

    Result<Token> raw_string()
    {
        const auto inner = TRY(delimited('\'', "a text in single quotes"));
        return Token{TokenKind::literal, 0, 0, without_escapes_of('\'', inner)};
    }

    // JSON, or as older expressions have it, a text that lacks its quotes: `Completed`.
    Result<Token> literal()
    {
        const auto start = at_;
        auto inner = without_escapes_of('`', TRY(delimited('`', "a literal in backticks")));
        inner.erase(0, std::min(inner.find_first_not_of(" \t\r\n"), inner.size()));
        auto value = parse_json(inner);
        if (!value) {
            auto as_text = parse_json('"' + inner + '"');
            if (!as_text)
                return wrong(start, "the literal is not JSON: " + value.error().message());
            value = std::move(as_text);
        }
        return Token{TokenKind::literal, 0, 0, std::move(*value)};
    }

    // What stands between the quote here and the next one that no backslash precedes.
    Result<std::string_view> delimited(char quote, std::string_view what)
    {
        const auto start = at_++;
        while (at_ < text_.size() && text_[at_] != quote)
            at_ += text_[at_] == '\\' ? 2U : 1U;
        if (at_ >= text_.size()) {
            at_ = text_.size();
            return wrong(start, fmt::format("{} is not closed: {} is missing", what, quote));
        }
        ++at_;
        return text_.substr(start + 1, at_ - start - 2);
    }

    [[nodiscard]] tl::unexpected<Error> unknown_character() const
    {
        const auto length = std::max<std::size_t>(utf8_sequence(text_.substr(at_)), 1);
        const auto character = text_.substr(at_, length);
        std::string hint;
        if (character == "=") hint = "Compare with '=='.";
        if (length > 1) hint = "A name with other letters than a-z needs double quotes.";
        if (character == "$" || character == "#" || character == "/" || character == "%")
            hint = "A name with special characters needs double quotes.";
        return wrong(at_, fmt::format("unexpected '{}'", printable(character)), hint);
    }

    [[nodiscard]] tl::unexpected<Error>
    wrong(std::size_t at, std::string_view what, std::string hint = {}) const
    {
        return tl::unexpected(make_fault(Fault::syntax, text_, at, what, std::move(hint)));
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> read_tokens(std::string_view expression)
{
    return Lexer(expression).all();
}

}  // namespace ponk::query

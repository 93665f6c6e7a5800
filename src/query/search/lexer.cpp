// SPDX-License-Identifier: Apache-2.0
#include "query/search/lexer.hpp"

#include "base/text.hpp"
#include "query/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ponk::query::search {

namespace {

// A longer symbol stands before its own beginning. "==" and "<>" are read whole, to be refused so.
constexpr std::array<std::string_view, 8> comparisons{"==", "<>", "!=", "<=", ">=", "=", "<", ">"};

// The length of a blank that stands first; 0: none does. Texts that are copied from pages have wide
// ones and such that do not break.
std::size_t blank_length(std::string_view text)
{
    if (text.empty()) return 0;
    if (text.front() == ' ' || (text.front() >= '\t' && text.front() <= '\r')) return 1;
    if (text.starts_with("\u00a0")) return 2;
    if (text.starts_with("\u202f") || text.starts_with("\u205f") || text.starts_with("\u3000"))
        return 3;
    const bool is_general = text.size() > 2 && text.starts_with("\xe2\x80") &&
                            static_cast<unsigned char>(text[2]) <= 0x8a;
    return is_general ? 3 : 0;
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// The first of it. Letters of other alphabets are bytes above 127.
bool is_word(std::string_view text)
{
    if (text.empty()) return false;
    const char c = text.front();
    if (static_cast<unsigned char>(c) >= 0x80) return blank_length(text) == 0;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

Quote quote_of(char c)
{
    if (c == '`') return Quote::backtick;
    if (c == '"') return Quote::double_quote;
    return c == '\'' ? Quote::single_quote : Quote::none;
}

bool is_quote(char c)
{
    return quote_of(c) != Quote::none;
}

class Lexer {
public:
    Lexer(std::string_view label, std::string_view text) : label_(label), text_(text) {}

    Result<std::vector<Token>> all()
    {
        std::vector<Token> tokens;
        for (;;) {
            while (const auto length = blank_length(rest()))
                at_ += length;
            if (at_ == text_.size()) break;
            const auto start = at_;
            auto token = TRY(next());
            token.at = start;
            token.length = at_ - start;
            tokens.push_back(token);
        }
        tokens.push_back({.at = text_.size()});
        return tokens;
    }

private:
    // 0 at the end, which no token has.
    [[nodiscard]] char here(std::size_t ahead = 0) const
    {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

    Result<Token> next()
    {
        const char c = here();
        const char sign = c == '-' ? here(1) : c;
        if (is_digit(sign) || (sign == '.' && is_digit(here(c == '-' ? 2 : 1)))) return number();
        if (is_word(rest()) || c == '`') return name();
        if (quote_of(c) != Quote::none) return quoted_text();
        if (c == '(') return symbol(TokenKind::left_paren, 1);
        if (c == ')') return symbol(TokenKind::right_paren, 1);
        if (c == ',') return symbol(TokenKind::comma, 1);
        for (const auto comparison : comparisons) {
            if (rest().starts_with(comparison))
                return symbol(TokenKind::comparison, comparison.size());
        }
        return unknown_character();
    }

    Token symbol(TokenKind kind, std::size_t length)
    {
        at_ += length;
        return {.kind = kind};
    }

    std::string_view word()
    {
        const auto start = at_;
        while (is_word(rest()))
            ++at_;
        return text_.substr(start, at_ - start);
    }

    Result<Token> name()
    {
        Token token{.kind = TokenKind::name, .quote = quote_of(here())};
        token.text = token.quote == Quote::none ? word() : TRY(quoted());
        if (here() != '.') return token;
        ++at_;
        token.rest_at = at_;
        token.rest = TRY(key(token));
        return token;
    }

    // Behind the first dot; further dots belong to it, and so do the quotes of a last part.
    Result<std::string_view> key(Token& token)
    {
        const auto start = at_;
        if (is_quote(here())) return key_in_quotes();
        while (!word().empty() && here() == '.')
            ++at_;
        if (at_ != start && text_[at_ - 1] == '.' && is_quote(here())) {
            token.quoted_from = at_ - start;
            TRY(key_in_quotes());
            return text_.substr(start, at_ - start);
        }
        if (at_ == start || text_[at_ - 1] == '.')
            return wrong(at_,
                         "a name must follow the '.'",
                         "Write no spaces around the dot; put a key with other characters than "
                         "letters, digits, '_' and '.' in backticks.");
        return text_.substr(start, at_ - start);
    }

    Result<std::string_view> key_in_quotes()
    {
        const auto key = TRY(quoted());
        if (is_word(rest()) || here() == '.' || is_quote(here()))
            return wrong(at_, "unexpected text directly after a key in quotes");
        return key;
    }

    Result<Token> quoted_text()
    {
        const auto start = at_;
        Token token{.kind = TokenKind::text, .quote = quote_of(here())};
        token.text = TRY(quoted());
        if (here() == '.' && (is_word(text_.substr(at_ + 1)) || quote_of(here(1)) != Quote::none))
            return wrong(
                start,
                fmt::format("'{}' cannot be in such quotes before a '.'", printable(token.text)),
                "Write it without quotes or in backticks.");
        return token;
    }

    // There is no escape: what holds one kind of quote stands in another.
    Result<std::string_view> quoted()
    {
        const auto start = at_;
        const char quote = text_[at_++];
        const auto end = text_.find(quote, at_);
        if (end == std::string_view::npos)
            return wrong(start,
                         fmt::format("what begins here is not closed: {} is missing", quote));
        const auto inner = text_.substr(at_, end - at_);
        if (inner.find('\0') != std::string_view::npos)
            return wrong(start, "cannot search for a zero byte");
        at_ = end + 1;
        return inner;
    }

    Result<Token> number()
    {
        const auto start = at_;
        Token token{.kind = TokenKind::number};
        const auto* end = text_.data() + text_.size();
        const auto [stop, problem] = std::from_chars(text_.data() + at_, end, token.number);
        at_ = static_cast<std::size_t>(stop - text_.data());
        while (is_word(rest()) || here() == '.')
            ++at_;
        const auto written = text_.substr(start, at_ - start);
        if (problem == std::errc::result_out_of_range)
            return wrong(start, fmt::format("'{}' does not fit in 64 bits", written));
        if (problem != std::errc() || stop != text_.data() + at_)
            return wrong(start, fmt::format("'{}' is not a number", printable(written)));
        return token;
    }

    [[nodiscard]] tl::unexpected<Error> unknown_character() const
    {
        const auto length = std::max<std::size_t>(utf8_sequence(rest()), 1);
        const auto character = text_.substr(at_, length);
        std::string hint = "Put a key with other characters than letters, digits, '_' and '.' in "
                           "backticks: metrics.`a-b`.";
        if (character == ";") hint = "One filter has no end mark.";
        if (character == "*") hint = "Wildcards are '%' and '_', with LIKE.";
        if (rest().starts_with("--") || rest().starts_with("/*"))
            hint = "Comments are not allowed here.";
        return wrong(at_, fmt::format("unexpected '{}'", printable(character)), hint);
    }

    [[nodiscard]] tl::unexpected<Error>
    wrong(std::size_t at, std::string_view what, std::string hint = {}) const
    {
        return tl::unexpected(error_at(label_, text_, at, what, std::move(hint)));
    }

    std::string_view label_;
    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> read_tokens(std::string_view label, std::string_view text)
{
    return Lexer(label, text).all();
}

bool is_plain_key(std::string_view key)
{
    if (key.empty() || key.front() == '.' || key.back() == '.') return false;
    if (key.find("..") != std::string_view::npos) return false;
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (key[i] != '.' && !is_word(key.substr(i))) return false;
    }
    return true;
}

}  // namespace ponk::query::search

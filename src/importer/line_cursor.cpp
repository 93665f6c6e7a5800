// SPDX-License-Identifier: Apache-2.0
#include "importer/line_cursor.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace ponk::importer {

namespace {

constexpr std::size_t most_depth = 64;

bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_number_part(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// "line 1, column 7: …" of a part becomes a place of the whole.
std::size_t column_in(const std::string& message)
{
    unsigned long line = 0;
    unsigned long column = 0;
    if (std::sscanf(message.c_str(), "line %lu, column %lu:", &line, &column) != 2) return 0;
    return column == 0 ? 0 : column - 1;
}

}  // namespace

tl::unexpected<Error> LineCursor::wrong(std::string_view what) const
{
    return fail(ErrorKind::invalid_argument,
                "{}{}",
                what,
                at_ >= text_.size() ? ", but the line ends here" : "");
}

char LineCursor::peek()
{
    while (at_ < text_.size() && is_space(text_[at_]))
        ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool LineCursor::take(char wanted)
{
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
}

Result<> LineCursor::expect(char wanted)
{
    if (take(wanted)) return {};
    return wrong(fmt::format("'{}' is expected", wanted));
}

Result<> LineCursor::expect_end()
{
    if (peek() == '\0' && at_ >= text_.size()) return {};
    return wrong("unexpected text after the end of the line's value");
}

Result<> LineCursor::raw_string()
{
    TRY(expect('"'));
    for (; at_ < text_.size(); ++at_) {
        if (text_[at_] == '\\') {
            ++at_;
        } else if (text_[at_] == '"') {
            ++at_;
            return {};
        }
    }
    at_ = text_.size();
    return wrong("a text has no end");
}

Result<std::string> LineCursor::string()
{
    peek();
    const auto begin = at_;
    TRY(raw_string());
    const auto raw = text_.substr(begin, at_ - begin);
    const auto parsed = parse_json(raw);
    if (!parsed) {
        at_ = begin + column_in(parsed.error().message());
        return wrong("a text is not written as JSON has it");
    }
    return parsed->as_string();
}

Result<std::string_view> LineCursor::token()
{
    peek();
    const auto begin = at_;
    auto end = at_;
    while (end < text_.size() && is_number_part(text_[end]))
        ++end;
    if (end == begin) return wrong("a number is expected");
    at_ = end;
    return text_.substr(begin, end - begin);
}

Result<std::int64_t> LineCursor::integer()
{
    const auto text = TRY(token());
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc() && end == text.data() + text.size()) return value;
    at_ -= text.size();
    return wrong("a whole number of 64 bits is expected");
}

Result<double> LineCursor::number()
{
    const auto text = TRY(token());
    double value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    // Larger than all numbers, or smaller: as every reader of JSON takes it.
    if (problem == std::errc::result_out_of_range && end == text.data() + text.size())
        return std::strtod(std::string(text).c_str(), nullptr);
    if (problem == std::errc() && end == text.data() + text.size()) return value;
    at_ -= text.size();
    return wrong("a number is expected");
}

// Brackets are counted here; whether all else is right parse_json says.
Result<std::string_view> LineCursor::raw()
{
    peek();
    const auto begin = at_;
    std::size_t depth = 0;
    do {
        const char c = peek();
        if (at_ >= text_.size()) return wrong("a value is expected");
        if (c == '"') {
            TRY(raw_string());
        } else if (c == '{' || c == '[') {
            if (++depth > most_depth) return wrong("values are nested too deeply");
            ++at_;
        } else if (c == '}' || c == ']') {
            if (depth == 0) return wrong("a value is expected");
            --depth;
            ++at_;
        } else if (depth == 0 && (c == ',' || c == ':')) {
            return wrong("a value is expected");
        } else {
            ++at_;
            while (depth == 0 && at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != ',' &&
                   text_[at_] != '}' && text_[at_] != ']')
                ++at_;
        }
    } while (depth > 0);
    return text_.substr(begin, at_ - begin);
}

Result<Json> LineCursor::value()
{
    const auto text = TRY(raw());
    auto parsed = parse_json(text, {.depth = most_depth, .bytes = std::size_t{256} << 20});
    if (parsed) return parsed;
    at_ =
        static_cast<std::size_t>(text.data() - text_.data()) + column_in(parsed.error().message());
    const auto& message = parsed.error().message();
    const auto behind = message.find(": ");
    return wrong(behind == std::string::npos ? message : message.substr(behind + 2));
}

Result<> LineCursor::skip()
{
    TRY(raw());
    return {};
}

}  // namespace ponk::importer

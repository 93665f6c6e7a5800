// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace ponk {

namespace {

class Parser {
public:
    Parser(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

    Result<Json> document()
    {
        if (text_.size() > limits_.bytes) {
            return fail(ErrorKind::invalid_argument,
                        "JSON document of {} bytes exceeds the limit of {}",
                        text_.size(),
                        limits_.bytes);
        }
        auto value = TRY(this->value(0));
        skip_blanks();
        if (at_ != text_.size()) return wrong("unexpected text after the document");
        return value;
    }

private:
    Result<Json> value(std::size_t depth)
    {
        if (depth > limits_.depth) return wrong("nested too deeply");
        if (++values_ > limits_.values)
            return wrong(fmt::format("more than {} values", limits_.values));
        count_work();
        skip_blanks();
        if (at_ == text_.size()) return wrong("unexpected end");
        switch (text_[at_]) {
        case '{':
            return object(depth);
        case '[':
            return array(depth);
        case '"':
            return Json(TRY(string()));
        case 't':
            return word("true", Json(true));
        case 'f':
            return word("false", Json(false));
        case 'n':
            return word("null", Json());
        case 'N':
            return odd_number("NaN");
        case 'I':
            return odd_number("Infinity");
        default:
            return number();
        }
    }

    Result<Json> object(std::size_t depth)
    {
        ++at_;
        JsonObject members;
        skip_blanks();
        if (take('}')) return Json(std::move(members));
        for (;;) {
            skip_blanks();
            if (at_ == text_.size() || text_[at_] != '"') return wrong("expected a key in quotes");
            auto key = TRY(string());
            skip_blanks();
            if (!take(':')) return wrong("expected ':' after the key");
            auto item = TRY(value(depth + 1));
            members.set(std::move(key), std::move(item));
            skip_blanks();
            if (take('}')) return Json(std::move(members));
            if (!take(',')) return wrong("expected ',' or '}'");
        }
    }

    Result<Json> array(std::size_t depth)
    {
        ++at_;
        JsonArray items;
        skip_blanks();
        if (take(']')) return Json(std::move(items));
        for (;;) {
            items.push_back(TRY(value(depth + 1)));
            skip_blanks();
            if (take(']')) return Json(std::move(items));
            if (!take(',')) return wrong("expected ',' or ']'");
        }
    }

    Result<std::string> string()
    {
        ++at_;
        std::string out;
        for (;;) {
            const auto plain = at_;
            while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
                   static_cast<unsigned char>(text_[at_]) >= 0x20)
                ++at_;
            out.append(text_, plain, at_ - plain);
            if (at_ == text_.size()) return wrong("text without closing quote");
            const char stop = text_[at_];
            if (stop == '"') {
                ++at_;
                return out;
            }
            if (stop != '\\') return wrong("control character inside a text");
            TRY(escape(out));
        }
    }

    Result<> escape(std::string& out)
    {
        ++at_;
        if (at_ == text_.size()) return wrong("text without closing quote");
        const char kind = text_[at_++];
        switch (kind) {
        case '"':
        case '\\':
        case '/':
            out += kind;
            return {};
        case 'b':
            out += '\b';
            return {};
        case 'f':
            out += '\f';
            return {};
        case 'n':
            out += '\n';
            return {};
        case 'r':
            out += '\r';
            return {};
        case 't':
            out += '\t';
            return {};
        case 'u':
            return unicode(out);
        default:
            --at_;
            return wrong("unknown escape");
        }
    }

    Result<> unicode(std::string& out)
    {
        auto code = TRY(hex4());
        if (code >= 0xdc80 && code <= 0xdcff) {  // a byte that was no UTF-8
            out += static_cast<char>(code - 0xdc00);
            return {};
        }
        if (code >= 0xd800 && code <= 0xdbff && text_.substr(at_, 2) == "\\u") {
            at_ += 2;
            const auto low = TRY(hex4());
            if (low < 0xdc00 || low > 0xdfff) return wrong("half of a surrogate pair");
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        } else if (code >= 0xd800 && code <= 0xdfff) {
            return wrong("half of a surrogate pair");
        }
        append_utf8(out, code);
        return {};
    }

    Result<std::uint32_t> hex4()
    {
        std::uint32_t code = 0;
        if (at_ + 4 > text_.size()) return wrong("four hex digits expected");
        const auto* begin = text_.data() + at_;
        const auto [end, problem] = std::from_chars(begin, begin + 4, code, 16);
        if (problem != std::errc{} || end != begin + 4) return wrong("four hex digits expected");
        at_ += 4;
        return code;
    }

    Result<Json> odd_number(std::string_view text)
    {
        if (!limits_.odd_numbers) return wrong("unexpected character");
        return word(text, Json(text));
    }

    Result<Json> number()
    {
        if (text_.substr(at_).starts_with("-I")) return odd_number("-Infinity");
        const auto begin = at_;
        bool whole = true;
        take('-');
        if (take('0')) {
            // no further digit may follow
        } else if (!digits()) {
            at_ = begin;
            return wrong("unexpected character");
        }
        if (take('.')) {
            whole = false;
            if (!digits()) return wrong("digit expected after '.'");
        }
        if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
            whole = false;
            ++at_;
            if (!take('+')) take('-');
            if (!digits()) return wrong("digit expected in the exponent");
        }
        const auto* first = text_.data() + begin;
        const auto* last = text_.data() + at_;
        if (whole) {
            std::int64_t integer = 0;
            if (std::from_chars(first, last, integer).ec == std::errc{}) return Json(integer);
        }
        double real = 0;
        const auto problem = std::from_chars(first, last, real).ec;
        if (problem == std::errc::result_out_of_range) {
            // Too large or too small for a double: what strtod gives, as other readers do.
            real = std::strtod(std::string(first, last).c_str(), nullptr);
        }
        return Json(real);
    }

    bool digits()
    {
        const auto begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
            ++at_;
        return at_ > begin;
    }

    Result<Json> word(std::string_view expected, Json value)
    {
        if (text_.substr(at_, expected.size()) != expected) return wrong("unexpected character");
        at_ += expected.size();
        return value;
    }

    bool take(char expected)
    {
        if (at_ == text_.size() || text_[at_] != expected) return false;
        ++at_;
        return true;
    }

    void skip_blanks()
    {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\r' || text_[at_] == '\t'))
            ++at_;
    }

    [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const
    {
        const auto before = text_.substr(0, at_);
        const auto line = 1 + std::count(before.begin(), before.end(), '\n');
        const auto start = before.rfind('\n');
        const auto column = at_ - (start == std::string_view::npos ? 0 : start + 1) + 1;
        return fail(ErrorKind::invalid_argument, "line {}, column {}: {}", line, column, what);
    }

    std::string_view text_;
    const JsonLimits& limits_;
    std::size_t at_ = 0;
    std::size_t values_ = 0;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits)
{
    return Parser(text, limits).document();
}

}  // namespace ponk

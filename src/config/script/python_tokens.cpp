// SPDX-License-Identifier: Apache-2.0
#include "config/script/python_tokens.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::config {

namespace {

bool starts_word(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Goes through a file once.
class Scan {
public:
    explicit Scan(std::string_view text) : text_(text)
    {
        at_ = line_begin_ = text_.size() - without_byte_order_mark(text_).size();
    }

    std::vector<PythonToken> run()
    {
        while (at_ < text_.size())
            step();
        return std::move(out_);
    }

private:
    using Kind = PythonToken::Kind;

    void step()
    {
        const char c = text_[at_];
        if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (c == '"' || c == '\'') {
            add(Kind::text, 1);
            skip_text(c);
        } else if (starts_word(c) || is_digit(c)) {
            auto end = at_;
            while (end < text_.size() && (starts_word(text_[end]) || is_digit(text_[end])))
                ++end;
            add(is_digit(c) ? Kind::text : Kind::word, end - at_);
            at_ = end;
        } else if (c == '\\' && text_.substr(at_ + 1, 2).starts_with("\n")) {
            skip(2);
        } else if (c == '\\' && text_.substr(at_ + 1, 2) == "\r\n") {
            skip(3);
        } else {
            read_mark(c);
        }
    }

    void read_mark(char c)
    {
        if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
        if (c == '\n' ? depth_ == 0 : c == ';') {
            add(Kind::line_end, 1);
        } else if (c > ' ') {
            add(Kind::mark, 1);
        }
        if (c == '(' || c == '[' || c == '{') ++depth_;
        skip(1);
    }

    void add(Kind kind, std::size_t size)
    {
        out_.push_back({kind,
                        text_.substr(at_, size),
                        {line_, static_cast<std::uint32_t>(at_ - line_begin_ + 1)},
                        depth_});
    }

    void skip(std::size_t count)
    {
        for (; count > 0 && at_ < text_.size(); --count) {
            if (text_[at_++] != '\n') continue;
            ++line_;
            line_begin_ = at_;
        }
    }

    void skip_text(char quote)
    {
        const std::string three(3, quote);
        const bool is_long = text_.substr(at_, 3) == three;
        skip(is_long ? 3 : 1);
        while (at_ < text_.size()) {
            if (text_[at_] == '\\') {
                skip(2);
            } else if (is_long ? text_.substr(at_, 3) == three : text_[at_] == quote) {
                skip(is_long ? 3 : 1);
                return;
            } else if (!is_long && text_[at_] == '\n') {
                return;
            } else {
                skip(1);
            }
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t line_begin_ = 0;
    std::uint32_t line_ = 1;
    std::size_t depth_ = 0;
    std::vector<PythonToken> out_;
};

}  // namespace

std::vector<PythonToken> python_tokens(std::string_view text)
{
    return Scan(text).run();
}

}  // namespace ponk::config

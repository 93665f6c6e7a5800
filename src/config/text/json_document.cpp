// SPDX-License-Identifier: Apache-2.0
#include "config/text/json_document.hpp"

#include "base/text.hpp"

#include <map>
#include <string>

namespace ponk::config {

namespace {

constexpr std::string_view blanks = " \t\r\n";

class JsonReader {
public:
    JsonReader(std::string_view text,
               const TextPlaces& places,
               const DocumentLimits& limits,
               JsonProblem& problem)
        : text_(text), places_(places), limits_(limits), problem_(problem)
    {
    }

    std::optional<Node> read()
    {
        Node root;
        if (!read_value(root, 1)) return std::nullopt;
        skip_blanks();
        if (at_ < text_.size()) {
            refuse("json-syntax",
                   "unexpected text after the end of the JSON document",
                   "Remove it, or look for a bracket that closes too early.");
            problem_.may_be_yaml = text_[at_] == '#';
            return std::nullopt;
        }
        return root;
    }

private:
    [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

    bool refuse(std::string code, std::string message, std::string hint = {})
    {
        problem_ = {places_.place(at_), std::move(code), std::move(message), std::move(hint)};
        return false;
    }

    bool refuse_start(const char* expected)
    {
        if (at_ >= text_.size()) {
            return refuse(
                "json-syntax", "the JSON document ends too early", "A closing bracket is missing.");
        }
        refuse("json-syntax",
               fmt::format("expected {}, found '{}'", expected, found_here()),
               "Write text in double quotes.");
        problem_.may_be_yaml = true;
        return false;
    }

    [[nodiscard]] std::string found_here() const
    {
        const auto length = std::max<std::size_t>(utf8_sequence(text_.substr(at_)), 1);
        return printable(text_.substr(at_, length));
    }

    bool read_value(Node& node, std::size_t depth)
    {
        skip_blanks();
        if (++nodes_ > limits_.nodes) {
            return refuse("too-many-nodes",
                          fmt::format("the document has more than {} values", limits_.nodes));
        }
        if (depth > limits_.depth) {
            return refuse("too-deep",
                          fmt::format("brackets are nested deeper than {}", limits_.depth));
        }
        node.place = places_.place(at_);
        last_literal_ = {};
        switch (peek()) {
        case '{':
            return read_map(node, depth);
        case '[':
            return read_list(node, depth);
        case '"':
            node.style = Node::Style::quoted;
            return read_string(node.text);
        default:
            return read_literal(node);
        }
    }

    bool read_map(Node& node, std::size_t depth)
    {
        node.type = Node::Type::map;
        std::map<std::string, Place, std::less<>> seen;
        ++at_;
        skip_blanks();
        if (peek() == '}') return ++at_, true;
        for (;;) {
            if (!read_member(node, depth, seen)) return false;
            skip_blanks();
            if (peek() == '}') return ++at_, true;
            if (!expect_comma('}')) return false;
        }
    }

    bool read_member(Node& node, std::size_t depth, std::map<std::string, Place, std::less<>>& seen)
    {
        skip_blanks();
        Member member;
        member.place = places_.place(at_);
        if (peek() != '"') return refuse_start("a key in double quotes");
        const std::size_t start = at_;
        if (!read_string(member.key)) return false;
        const auto [first, fresh] = seen.emplace(member.key, member.place);
        if (!fresh) {
            at_ = start;
            return refuse("duplicate-key",
                          fmt::format("duplicate key '{}'; the first is on line {}",
                                      printable(member.key),
                                      first->second.line),
                          "Keep one of the two.");
        }
        skip_blanks();
        if (peek() != ':') {
            return refuse("json-syntax",
                          fmt::format("expected ':' after the key '{}'", printable(member.key)));
        }
        ++at_;
        if (!read_value(member.value, depth + 1)) return false;
        node.members.push_back(std::move(member));
        return true;
    }

    bool read_list(Node& node, std::size_t depth)
    {
        node.type = Node::Type::list;
        ++at_;
        skip_blanks();
        if (peek() == ']') return ++at_, true;
        for (;;) {
            if (!read_value(node.items.emplace_back(), depth + 1)) return false;
            skip_blanks();
            if (peek() == ']') return ++at_, true;
            if (!expect_comma(']')) return false;
        }
    }

    // The commonest mistakes in files written by hand: no comma, or a full stop for a comma.
    bool expect_comma(char closing)
    {
        if (peek() == ',') return ++at_, true;
        if (at_ >= text_.size()) {
            return refuse("json-syntax",
                          "the JSON document ends too early",
                          fmt::format("A '{}' is missing.", closing));
        }
        const bool comment = peek() == '#';
        if (peek() == '.' && !last_literal_.empty()) {
            return refuse(
                "json-syntax",
                fmt::format("'{0}.' is not a value: expected ',' or '{1}' after '{0}'",
                            last_literal_,
                            closing),
                fmt::format("Write '{},', with a comma instead of the full stop.", last_literal_));
        }
        refuse("json-syntax",
               fmt::format("expected ',' or '{}', found '{}'", closing, found_here()),
               peek() == '"' ? "Put a comma at the end of the line before." : "");
        problem_.may_be_yaml = comment;
        return false;
    }

    bool read_literal(Node& node)
    {
        node.style = Node::Style::json_literal;
        const std::size_t end = std::min(
            text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_), text_.size());
        const auto word = text_.substr(at_, end - at_);
        for (const std::string_view literal : {"true", "false", "null"}) {
            if (!word.starts_with(literal)) continue;
            // "true." and "truely": the literal is read, the rest is reported where it stands.
            if (word.size() > literal.size() && word[literal.size()] != '.') break;
            node.text = literal;
            last_literal_ = literal;
            at_ += literal.size();
            return true;
        }
        return read_number(node);
    }

    bool read_number(Node& node)
    {
        const auto digits = [&](std::size_t from) {
            return std::min(text_.find_first_not_of("0123456789", from), text_.size());
        };
        const std::size_t first = at_ + (peek() == '-' ? 1 : 0);
        std::size_t end = digits(first);
        if (end == first || (text_[first] == '0' && end > first + 1)) {
            return refuse_start("a value");
        }
        if (end + 1 < text_.size() && text_[end] == '.' && digits(end + 1) > end + 1) {
            end = digits(end + 1);
        }
        if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
            std::size_t exponent = end + 1;
            if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) {
                ++exponent;
            }
            if (digits(exponent) == exponent) return refuse_start("a value");
            end = digits(exponent);
        }
        node.text = text_.substr(at_, end - at_);
        at_ = end;
        return true;
    }

    bool read_string(std::string& out)
    {
        const std::size_t start = at_++;
        while (at_ < text_.size()) {
            const auto c = static_cast<unsigned char>(text_[at_]);
            if (c == '"') return ++at_, true;
            if (c == '\\') {
                if (!read_escape(out)) return false;
                continue;
            }
            if (c == '\n' || c == '\r') break;
            if (c < 0x20) return refuse("json-syntax", "control character in a text");
            out += text_[at_++];
        }
        at_ = start;
        return refuse("json-syntax", "this text has no closing double quote on its line");
    }

    bool read_escape(std::string& out)
    {
        static constexpr std::string_view letters = "\"\\/bfnrt";
        static constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const char letter = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
        if (letter == 'u') return read_code(out);
        const std::size_t index = letters.find(letter);
        if (letter == '\0' || index == std::string_view::npos) {
            return refuse("json-syntax",
                          fmt::format("'\\{}' is not an escape sequence", printable({&letter, 1})),
                          "In a path, write each backslash twice, or use slashes.");
        }
        out += meanings[index];
        at_ += 2;
        return true;
    }

    [[nodiscard]] std::optional<std::uint32_t> hex4(std::size_t from) const
    {
        const auto bytes =
            from + 4 <= text_.size() ? from_hex(text_.substr(from, 4)) : std::nullopt;
        if (!bytes) return std::nullopt;
        return (std::uint32_t{static_cast<unsigned char>((*bytes)[0])} << 8) |
               static_cast<unsigned char>((*bytes)[1]);
    }

    bool read_code(std::string& out)
    {
        auto code = hex4(at_ + 2);
        if (!code) return refuse("json-syntax", "'\\u' needs four hexadecimal digits");
        std::size_t length = 6;
        if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_ + 6).starts_with("\\u")) {
            if (const auto low = hex4(at_ + 8); low && *low >= 0xDC00 && *low < 0xE000) {
                code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
                length = 12;
            }
        }
        if (*code >= 0xD800 && *code < 0xE000) {
            return refuse("json-syntax", "lone surrogate: half of a surrogate pair");
        }
        append_utf8(out, *code);
        at_ += length;
        return true;
    }

    std::string_view text_;
    const TextPlaces& places_;
    const DocumentLimits& limits_;
    JsonProblem& problem_;
    std::size_t at_ = 0;
    std::size_t nodes_ = 0;
    std::string_view last_literal_;  // when the value just read was true, false or null
};

}  // namespace

std::optional<Node> read_json_document(std::string_view text,
                                       const TextPlaces& places,
                                       const DocumentLimits& limits,
                                       JsonProblem& problem)
{
    return JsonReader(text, places, limits, problem).read();
}

}  // namespace ponk::config

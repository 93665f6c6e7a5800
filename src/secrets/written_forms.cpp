// SPDX-License-Identifier: Apache-2.0
#include "secrets/written_forms.hpp"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <string>

namespace ponk::secrets {

namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

using Node = FormGraph::Node;

// The ways from one meeting to another.
class Ways {
public:
    Ways(FormGraph& graph, Node from, Node to) : graph_(graph), from_(from), to_(to) {}

    void add(std::string_view text) { graph_.add(from_, text, to_); }
    // Digits in either case.
    void add_number(std::string_view before,
                    std::uint32_t number,
                    int digits,
                    std::string_view behind = "")
    {
        add(fmt::format("{}{:0{}x}{}", before, number, digits, behind));
        add(fmt::format("{}{:0{}X}{}", before, number, digits, behind));
    }
    // With a backslash; or with one that was escaped again, as in JSON that holds JSON.
    void add_escape(std::string_view text)
    {
        add(fmt::format("\\{}", text));
        const bool again = text.front() == '"' || text.front() == '\\';
        add(fmt::format("\\\\{}{}", again ? "\\" : "", text));
    }
    void add_escape_number(std::string_view before,
                           std::uint32_t number,
                           int digits,
                           std::string_view behind = "")
    {
        add_number(fmt::format("\\{}", before), number, digits, behind);
        add_number(fmt::format("\\\\{}", before), number, digits, behind);
    }

private:
    FormGraph& graph_;
    Node from_;
    Node to_;
};

// What holds for every byte, also one of several of a character.
void add_byte(Ways ways, unsigned char byte)
{
    ways.add(std::string(1, static_cast<char>(byte)));
    ways.add_number("%", byte, 2);
    ways.add_number("%25", byte, 2);
    ways.add_escape_number("x", byte, 2);
    ways.add_escape(fmt::format("{:03o}", byte));
    // Python shows a byte that is no text like this.
    if (byte >= 0x80) ways.add_escape_number("udc", byte, 2);
}

void add_by_number(Ways ways, char32_t number)
{
    const auto code = static_cast<std::uint32_t>(number);
    if (code < 0x10000) {
        ways.add_escape_number("u", code, 4);
    } else {
        const auto high = 0xd800 + ((code - 0x10000) >> 10U);
        const auto low = 0xdc00 + ((code - 0x10000) & 0x3ffU);
        ways.add(fmt::format("\\u{:04x}\\u{:04x}", high, low));
        ways.add(fmt::format("\\u{:04X}\\u{:04X}", high, low));
        ways.add(fmt::format("\\\\u{:04x}\\\\u{:04x}", high, low));
        ways.add(fmt::format("\\\\u{:04X}\\\\u{:04X}", high, low));
    }
    ways.add_escape_number("U", code, 8);
    ways.add_escape_number("u{", code, 1, "}");
    if (code >= 0x80 && code < 0x100) ways.add_escape_number("x", code, 2);
    ways.add_number("&#x", code, 1, ";");
    ways.add(fmt::format("&#{};", code));
    if (code < 100) ways.add(fmt::format("&#{:03};", code));
}

void add_named_escape(Ways ways, char byte)
{
    constexpr std::string_view bytes = "\n\t\r\a\b\f\v\x1b";
    constexpr std::string_view letters = "ntrabfve";
    if (const auto at = bytes.find(byte); at != std::string_view::npos)
        ways.add_escape(letters.substr(at, 1));
    if (byte == '\0') ways.add_escape("0");
    const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    const bool digit = byte >= '0' && byte <= '9';
    if (letter || digit) return;
    // JSON and Python escape quotes, shells every punctuation.
    if (byte >= ' ' && byte < 0x7f) ways.add_escape(std::string(1, byte));
    // Names of files are made from texts like this.
    ways.add("_");
}

void add_other_names(Ways ways, char byte)
{
    const auto all = [&ways](std::initializer_list<std::string_view> texts) {
        for (const auto text : texts)
            ways.add(text);
    };
    switch (byte) {
    case ' ':
        all({"+", "&nbsp;"});
        break;
    case '&':
        all({"&amp;"});
        break;
    case '<':
        all({"&lt;"});
        break;
    case '>':
        all({"&gt;"});
        break;
    case '%':
        all({"%%"});
        break;
    case '$':
        all({"$$"});
        break;
    case '"':
        all({"&quot;", "\"\"", "\\\"\\\""});
        break;
    // Doubled in YAML and SQL; shells leave their quotes for it.
    case '\'':
        all({"&apos;", "''", "'\\''", "'\\\\''", "'\"'\"'", "'\\\"'\\\"'"});
        break;
    default:
        break;
    }
}

FormGraph make_text_byte(unsigned char byte)
{
    FormGraph graph;
    const Ways ways(graph, FormGraph::entry, FormGraph::exit);
    add_byte(ways, byte);
    if (byte >= 0x80) return graph;
    add_by_number(ways, byte);
    add_named_escape(ways, static_cast<char>(byte));
    add_other_names(ways, static_cast<char>(byte));
    return graph;
}

FormGraph make_base64_character(unsigned bits, unsigned known, KnownBits which)
{
    FormGraph graph;
    Ways ways(graph, FormGraph::entry, FormGraph::exit);
    const unsigned shift = which == KnownBits::first ? 6 - known : 0;
    const unsigned mask = ((1U << known) - 1U) << shift;
    for (unsigned index = 0; index < 64; ++index) {
        if ((index & mask) != bits << shift) continue;
        ways.add(alphabet.substr(index, 1));
        if (index < 62) continue;
        const auto byte = static_cast<unsigned char>(alphabet[index]);
        ways.add(index == 62 ? "-" : "_");
        ways.add_number("%", byte, 2);
        ways.add_escape_number("u", byte, 4);
        if (byte == '/') ways.add_escape("/");
    }
    return graph;
}

FormGraph make_hex_byte(unsigned char byte)
{
    FormGraph graph;
    constexpr std::array<std::string_view, 2> digits{"0123456789abcdef", "0123456789ABCDEF"};
    for (const auto& first : digits) {
        for (const auto& second : digits)
            graph.add(std::string{first[byte >> 4U], second[byte & 15U]});
    }
    return graph;
}

void add_line_breaks(FormGraph& graph)
{
    constexpr std::size_t indentation = 8;
    for (const std::string line_break : {"\n", "\r\n", "\\n", "\\r\\n", "%0A", "%0D%0A"}) {
        for (std::size_t blanks = 0; blanks <= indentation; ++blanks) {
            graph.add(line_break + std::string(blanks, ' '));
            graph.add(line_break + std::string(blanks, '\t'));
        }
    }
}

}  // namespace

const FormGraph& text_byte(unsigned char byte)
{
    static const auto graphs = [] {
        std::vector<FormGraph> made;
        for (unsigned i = 0; i < 256; ++i)
            made.push_back(make_text_byte(static_cast<unsigned char>(i)));
        return made;
    }();
    return graphs[byte];
}

std::unique_ptr<const FormGraph> text_character(std::string_view utf8, char32_t number)
{
    auto graph = std::make_unique<FormGraph>();
    Node from = FormGraph::entry;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const Node to = i + 1 == utf8.size() ? FormGraph::exit : graph->add_meeting();
        add_byte(Ways(*graph, from, to), static_cast<unsigned char>(utf8[i]));
        from = to;
    }
    add_by_number(Ways(*graph, FormGraph::entry, FormGraph::exit), number);
    return graph;
}

const FormGraph& base64_character(unsigned bits, unsigned known, KnownBits which)
{
    // Two kinds of bits, 64 values of 6 or fewer; most places stay empty.
    static const auto graphs = [] {
        std::vector<FormGraph> made;
        for (const auto kind : {KnownBits::first, KnownBits::last}) {
            for (unsigned count = 0; count <= 6; ++count) {
                for (unsigned value = 0; value < 64; ++value) {
                    const bool used = count % 2 == 0 && count > 0 && value < 1U << count;
                    made.push_back(used ? make_base64_character(value, count, kind) : FormGraph());
                }
            }
        }
        return made;
    }();
    return graphs[((which == KnownBits::last ? 7U : 0U) + known) * 64 + bits];
}

const FormGraph& hex_byte(unsigned char byte)
{
    static const auto graphs = [] {
        std::vector<FormGraph> made;
        for (unsigned i = 0; i < 256; ++i)
            made.push_back(make_hex_byte(static_cast<unsigned char>(i)));
        return made;
    }();
    return graphs[byte];
}

const FormGraph& base64_gap()
{
    static const auto graph = [] {
        FormGraph made;
        add_line_breaks(made);
        return made;
    }();
    return graph;
}

const FormGraph& hex_gap()
{
    static const auto graph = [] {
        FormGraph made;
        add_line_breaks(made);
        for (const auto* text :
             {":", "-", " ", "  ", ",", ", ", "0x", " 0x", ",0x", ", 0x", "\\x", "\\\\x"})
            made.add(text);
        return made;
    }();
    return graph;
}

}  // namespace ponk::secrets

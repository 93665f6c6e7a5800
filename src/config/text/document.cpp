// SPDX-License-Identifier: Apache-2.0
#include "config/text/document.hpp"

#include "base/text.hpp"
#include "config/text/json_document.hpp"
#include "config/text/line_checks.hpp"
#include "config/text/text_places.hpp"
#include "config/text/yaml_document.hpp"

#include <algorithm>

namespace ponk::config {

bool Node::is_null() const
{
    if (!is_scalar() || is_quoted()) return false;
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

const Node* Node::find(std::string_view key) const
{
    const auto found = std::find_if(
        members.begin(), members.end(), [&](const Member& member) { return member.key == key; });
    return found == members.end() ? nullptr : &found->value;
}

std::string type_name(const Node& node)
{
    if (node.is_list()) return "a list";
    if (node.is_map()) return "a map";
    return node.is_null() ? "nothing" : fmt::format("'{}'", printable(node.text));
}

namespace {

Json plain_scalar(const Node& node)
{
    if (node.is_quoted()) return node.text;
    if (node.is_null()) return {};
    const std::string& text = node.text;
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    const bool signed_text = text.starts_with('+') && text.size() > 1 && text[1] != '-';
    const auto digits = std::string_view(text).substr(signed_text ? 1 : 0);
    if (const auto integer = parse_integer(digits)) return *integer;
    if (digits.find_first_not_of("0123456789+-.eE") == std::string_view::npos) {
        if (const auto real = parse_real(digits)) return *real;
    }
    return text;
}

}  // namespace

Json plain_json(const Node& node)
{
    if (node.is_list()) {
        JsonArray array;
        for (const auto& item : node.items)
            array.push_back(plain_json(item));
        return array;
    }
    if (node.is_map()) {
        JsonObject object;
        for (const auto& member : node.members)
            object.append(member.key, plain_json(member.value));
        return object;
    }
    return plain_scalar(node);
}

namespace {

// The text must be UTF-8 without control characters before any parser sees it.
bool check_characters(std::string_view text, const TextPlaces& places, Report& report)
{
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        report.error({1, 1}, "encoding", "the file is UTF-16", "Save the file as UTF-8.");
        return false;
    }
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const std::size_t length = byte < 0x80 ? 1 : utf8_sequence(text.substr(i));
        if (length == 0) {
            report.error(places.place(i),
                         "encoding",
                         fmt::format("the byte 0x{:02x} here is not UTF-8", byte),
                         "Save the file as UTF-8.");
            return false;
        }
        if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) {
            report.error(places.place(i),
                         "encoding",
                         fmt::format("the control character 0x{:02x} is not allowed", byte),
                         "Remove it.");
            return false;
        }
        i += length;
    }
    return true;
}

// Each pasted ellipsis may cost another look at the file; who pastes more has to remove some first.
constexpr int most_rounds = 10;

std::ptrdiff_t error_count(const Report& report)
{
    const auto& all = report.diagnostics();
    return std::count_if(all.begin(), all.end(), [](const Diagnostic& remark) {
        return remark.severity == Severity::error;
    });
}

std::optional<Node> read_yaml(std::string_view text,
                              const TextPlaces& places,
                              const DocumentLimits& limits,
                              Report& report,
                              int rounds = most_rounds)
{
    YamlRead read = read_yaml_document(text, places, limits);
    // What the eye sees as the cause stands in a line of its own; the parser trips over it later.
    const bool stopped =
        read.problem.code == "yaml-syntax" || read.problem.code == "second-document";
    if (read.root || stopped) {
        const auto last = read.root ? places.line_count() : read.problem.place.line;
        const auto rest = without_ellipses(text, places, read.inner_lines, last, report);
        if (!rest.empty() && rounds == 0) return std::nullopt;
        if (!rest.empty()) return read_yaml(rest, TextPlaces(rest), limits, report, rounds - 1);
    }
    if (read.root) {
        const auto before = error_count(report);
        report_odd_lines(places, read.inner_lines, report);
        if (error_count(report) > before) return std::nullopt;
        return std::move(read.root);
    }
    if (stopped && report_cause_by_lines(places, read.inner_lines, read.problem.place, report)) {
        return std::nullopt;
    }
    if (read.problem.code == "yaml-syntax") explain_syntax(places, read.problem);
    report.error(read.problem.place, read.problem.code, read.problem.message, read.problem.hint);
    return std::nullopt;
}

std::optional<Node> read_json_or_flow(std::string_view text,
                                      const TextPlaces& places,
                                      const DocumentLimits& limits,
                                      Report& report)
{
    JsonProblem problem;
    if (auto root = read_json_document(text, places, limits, problem)) return root;
    if (problem.may_be_yaml) {
        YamlRead read = read_yaml_document(text, places, limits);
        if (read.root && !read.folded_plain) return std::move(read.root);
    }
    report.error(problem.place, problem.code, problem.message, problem.hint);
    return std::nullopt;
}

}  // namespace

std::optional<Node>
read_document(std::string_view text, Report& report, const DocumentLimits& limits)
{
    if (text.size() > limits.bytes) {
        report.error({},
                     "too-large",
                     fmt::format("the file has {}; a configuration file may have at most {}",
                                 byte_size_text(text.size()),
                                 byte_size_text(limits.bytes)));
        return std::nullopt;
    }
    text = without_byte_order_mark(text);
    const TextPlaces places(text);
    if (!check_characters(text, places, report)) return std::nullopt;
    if (report_conflict_markers(places, report)) return std::nullopt;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') {
        return read_json_or_flow(text, places, limits, report);
    }
    return read_yaml(text, places, limits, report);
}

}  // namespace ponk::config

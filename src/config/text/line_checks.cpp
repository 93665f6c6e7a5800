// SPDX-License-Identifier: Apache-2.0
#include "config/text/line_checks.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ponk::config {

namespace {

bool is_marker(std::string_view line, char symbol)
{
    if (line.size() < 7 || line.find_first_not_of(symbol) < 7) return false;
    return line.size() == 7 || line[7] == ' ';
}

bool is_inner(const LineRanges& inner, std::size_t line)
{
    return std::any_of(inner.begin(), inner.end(), [&](const auto& range) {
        return line >= range.first && line <= range.second;
    });
}

bool is_content(std::string_view line)
{
    line = trim(line);
    return !line.empty() && !line.starts_with('#');
}

bool is_ellipsis(std::string_view line)
{
    const auto text = trim(line);
    return text == "..." || text == "…" || text == "- ..." || text == "- …" ||
           (line.starts_with("...") && text.size() > 3 && trim(text.substr(3)).starts_with('#'));
}

// Column of the first tab among the blanks that begin a line with content; 0 when there is none.
std::uint32_t indenting_tab(std::string_view line)
{
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') return 0;
    const std::size_t tab = line.substr(0, first).find('\t');
    return tab == std::string_view::npos ? 0 : static_cast<std::uint32_t>(tab + 1);
}

void report_tab(std::size_t line, std::uint32_t column, Report& report)
{
    report.error({static_cast<std::uint32_t>(line), column},
                 "tab-indentation",
                 "a tab indents this line; YAML allows spaces only",
                 "Replace the tab with as many spaces as the lines around it have.");
}

constexpr const char* ellipsis_hint = "It marks omitted lines in documentation: remove the line.";

// An ellipsis that is more than the end of the file.
bool spoils(const TextPlaces& places, std::size_t line)
{
    if (places.line(line).find_first_not_of(" \t") > 0) return true;
    for (std::size_t i = line + 1; i <= places.line_count(); ++i) {
        if (is_content(places.line(i))) return true;
    }
    return false;
}

}  // namespace

bool report_conflict_markers(const TextPlaces& places, Report& report)
{
    bool found = false;
    std::size_t covered = 0;
    for (std::size_t i = 1; i <= places.line_count(); ++i) {
        const auto line = places.line(i);
        const bool start = is_marker(line, '<');
        if (!start && !(i > covered && (is_marker(line, '>') || line == "======="))) continue;
        std::size_t end = i;
        for (std::size_t j = i + 1; start && j <= places.line_count() && end == i; ++j) {
            if (is_marker(places.line(j), '>')) end = j;
        }
        covered = std::max(covered, end);
        found = true;
        report.error(
            {static_cast<std::uint32_t>(i), 1},
            "conflict-marker",
            end > i ? fmt::format("unresolved merge conflict, lines {} to {}", i, end)
                    : std::string("a conflict marker of an unresolved merge"),
            "Keep one side, and remove the lines with '<<<<<<<', '=======' and '>>>>>>>'.");
    }
    return found;
}

std::string without_ellipses(std::string_view text,
                             const TextPlaces& places,
                             const LineRanges& inner,
                             std::size_t last_line,
                             Report& report)
{
    std::string rest;
    for (std::size_t i = 1; i <= std::min(last_line, places.line_count()); ++i) {
        const auto line = places.line(i);
        if (!is_ellipsis(line) || is_inner(inner, i) || !spoils(places, i)) continue;
        report.error({static_cast<std::uint32_t>(i),
                      static_cast<std::uint32_t>(line.find_first_not_of(" \t") + 1)},
                     "pasted-ellipsis",
                     "this '...' line ends the document for YAML; the lines after it would be lost",
                     ellipsis_hint);
        if (rest.empty()) rest = text;
        rest.replace(places.start_of(i), line.size(), line.size(), ' ');
    }
    return rest;
}

void report_odd_lines(const TextPlaces& places, const LineRanges& inner, Report& report)
{
    for (std::size_t i = 1; i <= places.line_count(); ++i) {
        const auto line = places.line(i);
        if (is_inner(inner, i)) continue;
        if (const auto column = indenting_tab(line); column != 0) report_tab(i, column, report);
        if (is_ellipsis(line)) {
            report.warning({static_cast<std::uint32_t>(i), 1},
                           "pasted-ellipsis",
                           "a '...' line ends this file",
                           ellipsis_hint);
        }
    }
}

bool report_cause_by_lines(const TextPlaces& places,
                           const LineRanges& inner,
                           Place failure,
                           Report& report)
{
    bool found = false;
    for (std::size_t i = 1; i <= places.line_count(); ++i) {
        if (is_inner(inner, i)) continue;
        const auto line = places.line(i);
        if (const auto column = indenting_tab(line); column != 0) {
            // The parser may give up at the line before, or well after, the tab that spoilt it.
            if (!found && i > failure.line + 1) break;
            report_tab(i, column, report);
            found = true;
        }
    }
    return found;
}

namespace {

// `"key":"value"` and `key:value` look like a key to people, but YAML wants a blank after the
// colon.
std::uint32_t colon_without_blank(std::string_view line)
{
    std::size_t at = line.find_first_not_of(" ");
    if (at == std::string_view::npos) return 0;
    if (line.substr(at).starts_with("- ")) at = line.find_first_not_of(" ", at + 1);
    if (at == std::string_view::npos) return 0;
    std::size_t colon = 0;
    if (line[at] == '"' || line[at] == '\'') {
        colon = line.find(line[at], at + 1);
        if (colon == std::string_view::npos) return 0;
        ++colon;
    } else {
        colon =
            std::min(line.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", at),
                     line.size());
    }
    if (colon >= line.size() || line[colon] != ':' || colon + 1 >= line.size()) return 0;
    const char next = line[colon + 1];
    if (next == ' ' || next == '\t' || next == '/') return 0;
    return static_cast<std::uint32_t>(utf8_length(line.substr(0, colon)) + 1);
}

std::uint32_t first_column(std::string_view line)
{
    return static_cast<std::uint32_t>(line.find_first_not_of(' ') + 1);
}

// The parser takes an empty item at the end of some lists for a mistake, though YAML allows it.
bool explain_empty_item(const TextPlaces& places, YamlProblem& problem)
{
    for (std::size_t i = std::min<std::size_t>(problem.place.line, places.line_count()); i > 0;
         --i) {
        const auto content = trim(places.line(i));
        if (content == "-") {
            problem = {{static_cast<std::uint32_t>(i), first_column(places.line(i))},
                       "empty-item",
                       "this list item is empty",
                       "Remove the line, or write its value."};
            return true;
        }
        if (is_content(content) && i < problem.place.line) return false;
    }
    return false;
}

}  // namespace

void explain_syntax(const TextPlaces& places, YamlProblem& problem)
{
    // A key without its blank makes the parser stumble here or on the next line.
    const std::size_t last = std::min<std::size_t>(problem.place.line, places.line_count());
    for (std::size_t i = last > 1 ? last - 1 : last; i <= last; ++i) {
        const auto column = colon_without_blank(places.line(i));
        if (column == 0) continue;
        problem = {{static_cast<std::uint32_t>(i), column},
                   "missing-blank",
                   "':' must be followed by a space",
                   "Write 'key: value', with a space after the colon."};
        return;
    }
    if (explain_empty_item(places, problem)) return;
    const auto line = places.line(last);
    const auto content = trim(line);
    if (content.starts_with("- ")) {
        problem = {{problem.place.line, first_column(line)},
                   "list-indentation",
                   "this list item has a different indentation than the list before it",
                   "Indent it like the other items of its list."};
        return;
    }
    problem.hint = "Compare indentation, quotes and brackets with the lines around it.";
}

}  // namespace ponk::config

// SPDX-License-Identifier: Apache-2.0
#include "importer/table_reader.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace ponk::importer {

namespace {

constexpr std::size_t longest_row = std::size_t{64} << 20;

char separator_of(std::string_view heading)
{
    constexpr std::string_view known = ",;\t";
    return *std::max_element(known.begin(), known.end(), [&](char a, char b) {
        return std::count(heading.begin(), heading.end(), a) <
               std::count(heading.begin(), heading.end(), b);
    });
}

// What Excel takes for the separator, in a line before the heading: "sep=;".
std::optional<char> said_separator(std::string_view line)
{
    constexpr std::string_view word = "sep=";
    if (line.size() == word.size() + 1 && line.starts_with(word)) return line.back();
    return std::nullopt;
}

// Whether a quoted cell is open behind a line, when one was open before it or not. Only at the
// begin of a cell a quote opens one: 5" is five inches.
bool is_open_behind(std::string_view line, bool open, char separator)
{
    bool at_begin = !open;
    for (std::size_t at = 0; at < line.size(); ++at) {
        const char each = line[at];
        if (open) {
            if (each != '"') continue;
            if (at + 1 < line.size() && line[at + 1] == '"') {
                ++at;
            } else {
                open = false;
            }
        } else {
            open = each == '"' && at_begin;
            at_begin = each == separator;
        }
    }
    return open;
}

tl::unexpected<Error> wrong(std::size_t at, std::string_view what)
{
    return fail(ErrorKind::invalid_argument, "at its character {}: {}", at + 1, what);
}

Result<Cells> split_row(std::string_view text, char separator)
{
    if (!is_utf8(text))
        return fail(ErrorKind::invalid_argument, "it is not UTF-8: save the table as 'CSV UTF-8'");
    Cells cells;
    for (std::size_t at = 0;; ++at) {
        auto& cell = cells.emplace_back();
        if (at < text.size() && text[at] == '"') {
            const auto begin = at++;
            for (;; ++at) {
                if (at >= text.size())
                    return wrong(begin, "a quote that opens in this row is never closed");
                if (text[at] == '"' && (at + 1 >= text.size() || text[at + 1] != '"')) break;
                if (text[at] == '"') ++at;
                cell += text[at];
            }
            if (++at < text.size() && text[at] != separator)
                return wrong(at, "unexpected text after a closing quote");
        } else {
            const auto end = std::min(text.find(separator, at), text.size());
            cell = text.substr(at, end - at);
            at = end;
        }
        if (at >= text.size()) return cells;
    }
}

std::string_view without_return(std::string_view line)
{
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

Result<Cells> parse_heading(std::string_view line, std::optional<char> separator)
{
    line = without_return(without_byte_order_mark(line));
    if (line.find('\r') != std::string_view::npos)
        return fail(ErrorKind::invalid_argument,
                    "its lines end with CR alone: save the table as 'CSV UTF-8'");
    return split_row(line, separator.value_or(separator_of(line)));
}

}  // namespace

Result<Cells> find_heading(std::string_view text)
{
    auto line = text.substr(0, text.find('\n'));
    const auto separator = said_separator(without_return(without_byte_order_mark(line)));
    if (separator) {
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line = text.substr(0, text.find('\n'));
    }
    return parse_heading(line, separator);
}

Result<TableReader> TableReader::open(const os::Path& file)
{
    TableReader reader(TRY(LineReader::open(file, longest_row)));
    bool found = TRY(reader.next_text());
    const auto separator = said_separator(without_byte_order_mark(reader.text_));
    if (separator) {
        reader.separator_ = *separator;
        found = TRY(reader.next_text());
    }
    if (!found) return fail(ErrorKind::invalid_argument, "{} has no heading", os::in_quotes(file));
    auto heading = parse_heading(reader.text_, separator);
    if (!heading)
        return fail(
            ErrorKind::invalid_argument, "{}: {}", reader.where_, heading.error().message());
    reader.heading_ = std::move(*heading);
    reader.separator_ = separator.value_or(separator_of(reader.text_));
    KeyedSet<std::string_view> known;
    for (const std::string& column : reader.heading_) {
        if (!column.empty() && !known.insert(column).second)
            return fail(ErrorKind::invalid_argument,
                        "{}: there are two columns '{}'",
                        reader.where_,
                        printable(column));
    }
    return reader;
}

// The text of the next row: lines up to the one that closes every quote.
Result<bool> TableReader::next_text()
{
    text_.clear();
    std::string line;
    bool open = false;  // a quote: the next line is part of the row
    while (TRY(lines_.next(line))) {
        if (text_.empty()) where_ = lines_.where();
        open = is_open_behind(line, open, separator_);
        text_ += line;
        if (text_.size() > longest_row)
            return fail(ErrorKind::invalid_argument,
                        "{}: the row is longer than {}: a quote may not be closed",
                        where_,
                        byte_size_text(longest_row));
        if (open) {
            text_ += '\n';
            continue;
        }
        text_ = without_return(text_);
        if (!text_.empty()) return true;
    }
    return !text_.empty();
}

Result<Cells> TableReader::split() const
{
    auto cells = TRY(split_row(text_, separator_));
    if (cells.size() != heading_.size())
        return fail(ErrorKind::invalid_argument,
                    "it has {} cells and the heading has {}",
                    cells.size(),
                    heading_.size());
    return cells;
}

Result<std::optional<Result<Cells>>> TableReader::next()
{
    if (!TRY(next_text())) return std::optional<Result<Cells>>();
    return std::optional(split());
}

}  // namespace ponk::importer

// SPDX-License-Identifier: Apache-2.0
#include "output/table.hpp"

#include "base/text.hpp"
#include "output/cell.hpp"
#include "output/table_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::output {

namespace {

constexpr std::size_t gap = column_gap;
constexpr std::size_t endless = 1'000'000;

std::size_t room_of(const Terminal& terminal)
{
    return terminal.width > 0 ? static_cast<std::size_t>(terminal.width) : endless;
}

std::string title_of(const Column& column)
{
    return printable(column.title.empty() ? column.key : column.title);
}

std::string bold(std::string_view text, const Terminal& terminal)
{
    return terminal.colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string padding(std::string_view text, std::size_t width)
{
    const auto used = display_width(text);
    return std::string(width > used ? width - used : 0, ' ');
}

// A list of objects, lists or plain values, one line each below a heading.
class ListTable {
public:
    ListTable(const Grid& grid, const Terminal& terminal) : terminal_(terminal)
    {
        for (const auto& column : grid.columns)
            titles_.push_back(title_of(column));
        for (const auto& row : grid.rows) {
            auto& cells = cells_.emplace_back();
            for (const auto* value : row)
                cells.push_back(value ? cell_text(*value) : "");
        }
        for (std::size_t i = 0; i < titles_.size(); ++i)
            measure(grid, i);
        widths_ = fit_columns(extents_, room_of(terminal_), gap);
    }

    std::string text() const
    {
        std::string out = line(titles_, Weight::heading);
        std::vector<std::string> rules;
        for (const auto width : widths_)
            rules.emplace_back(width, '-');
        out += line(rules, Weight::plain);
        for (const auto& row : cells_)
            out += line(row, Weight::plain);
        return out + notice();
    }

private:
    enum class Weight { plain, heading };

    void measure(const Grid& grid, std::size_t i)
    {
        const auto [extent, numeric] = measure_column(grid, i);
        extents_.push_back(extent);
        const auto align = grid.columns[i].align;
        right_.push_back(align == Align::right || (align == Align::by_value && numeric));
    }

    [[nodiscard]] std::string line(const std::vector<std::string>& cells, Weight weight) const
    {
        std::string out;
        std::string owed;  // blanks that are only written when something follows
        for (std::size_t i = 0; i < widths_.size(); ++i) {
            const auto cell = shortened(cells[i], widths_[i], terminal_);
            const auto blanks = padding(cell, widths_[i]);
            if (right_[i]) owed += blanks;
            if (!cell.empty()) {
                out += owed;
                owed.clear();
                out += weight == Weight::heading ? bold(cell, terminal_) : cell;
            }
            if (!right_[i]) owed += blanks;
            owed.append(gap, ' ');
        }
        return out + '\n';
    }

    [[nodiscard]] std::string notice() const
    {
        if (widths_.size() == titles_.size()) return {};
        const std::vector<std::string> missing(
            titles_.begin() + static_cast<std::ptrdiff_t>(widths_.size()), titles_.end());
        const auto text = fmt::format("({} more column{} in -o json: {})",
                                      missing.size(),
                                      missing.size() == 1 ? "" : "s",
                                      join(missing, ", "));
        return join(wrapped(text, room_of(terminal_)), "\n") + '\n';
    }

    const Terminal& terminal_;
    std::vector<std::string> titles_;
    std::vector<std::vector<std::string>> cells_;
    std::vector<Extent> extents_;
    std::vector<bool> right_;
    std::vector<std::size_t> widths_;
};

// One object: names on the left, values on the right, continued below where they are long.
class ObjectTable {
public:
    ObjectTable(const JsonObject& object, const Terminal& terminal, const Columns& columns)
        : terminal_(terminal)
    {
        if (columns.empty()) {
            for (const auto& [key, value] : object)
                add(printable(key), value);
        }
        for (const auto& column : columns) {
            if (const auto* value = object.find(column.key)) add(title_of(column), *value);
        }
    }

    std::string text() const
    {
        std::size_t names = 0;
        for (const auto& [name, lines] : rows_)
            names = std::max(names, display_width(name));
        const auto room = room_of(terminal_);
        names = std::min(names, std::max<std::size_t>(room / 2, 8));
        const auto values = room > names + gap + 8 ? room - names - gap : 8;
        std::string out;
        for (const auto& [name, lines] : rows_)
            append_row(out, name, lines, names, values);
        return out;
    }

private:
    // Objects inside are shown by their path: git.commit.
    void add(const std::string& name, const Json& value)
    {
        if (value.is_object() && !value.as_object().empty()) {
            for (const auto& [key, member] : value.as_object())
                add(fmt::format("{}.{}", name, printable(key)), member);
            return;
        }
        std::vector<std::string> lines;
        if (value.is_string()) {
            for (const auto& part : split(value.as_string(), '\n'))
                lines.push_back(printable(part));
            while (lines.size() > 1 && lines.back().empty())
                lines.pop_back();
        } else {
            lines.push_back(cell_text(value));
        }
        rows_.emplace_back(name, std::move(lines));
    }

    void append_row(std::string& out,
                    const std::string& name,
                    const std::vector<std::string>& lines,
                    std::size_t names,
                    std::size_t values) const
    {
        auto label = shortened(name, names, terminal_);
        auto lead = bold(label, terminal_) + padding(label, names + gap);
        for (const auto& line : lines) {
            std::string_view rest = line;
            do {
                auto [part, after] = split_at_word(rest, values);
                if (part.empty() && !after.empty()) part = after, after = {};
                rest = after;
                if (part.empty()) lead.erase(lead.find_last_not_of(' ') + 1);
                out += lead;
                out += part;
                out += '\n';
                lead.assign(names + gap, ' ');
            } while (!rest.empty());
        }
    }

    const Terminal& terminal_;
    std::vector<std::pair<std::string, std::vector<std::string>>> rows_;
};

}  // namespace

std::string render_table(const Json& document, const Terminal& terminal, const Columns& columns)
{
    if (document.is_object()) return ObjectTable(document.as_object(), terminal, columns).text();
    if (!document.is_array()) {
        const auto text = cell_text(document);
        return text.empty() ? text : text + '\n';
    }
    const auto grid = arrange(document, columns);
    return grid.columns.empty() ? std::string() : ListTable(grid, terminal).text();
}

}  // namespace ponk::output

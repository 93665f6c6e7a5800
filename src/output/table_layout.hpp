// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/table.hpp"
#include "output/terminal.hpp"

#include <cstddef>
#include <vector>

namespace ponk::output {

// A document as rows and columns. Cells point into the document; null where a row has none.
struct Grid {
    Columns columns;
    std::vector<std::vector<const Json*>> rows;
};

// A list gives a row for each element, anything else one row; null gives none. Objects share the
// union of their keys unless `columns` says otherwise, lists have Column1, Column2…, and plain
// values have one column called Result.
Grid arrange(const Json& document, const Columns& columns);

// Blanks between two columns.
inline constexpr std::size_t column_gap = 2;

// What a column of a table wants and the least it can do with.
struct Extent {
    std::size_t wanted = 0;
    std::size_t least = 0;
};

// The extent of a column, and whether it holds numbers and nothing else.
struct Measure {
    Extent extent;
    bool numeric = false;
};
Measure measure_column(const Grid& grid, std::size_t column);

// Which columns to show, by their places in order, so that the least of all together is at most
// `room`: the highest of `ranks` goes first, among equals the last. At least one is there.
std::vector<std::size_t> choose_columns(const std::vector<Extent>& extents,
                                        const std::vector<int>& ranks,
                                        std::size_t room,
                                        std::size_t gap);

// Widths of the columns that fit into `room` with `gap` between them: all as wanted if possible,
// else the widest give way first, else columns at the end are missing. At least one is there.
std::vector<std::size_t>
fit_columns(const std::vector<Extent>& extents, std::size_t room, std::size_t gap);

}  // namespace ponk::output

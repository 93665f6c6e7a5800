// SPDX-License-Identifier: Apache-2.0
#include "output/column_order.hpp"

#include "output/table_layout.hpp"

#include <algorithm>

namespace ponk::output {

Columns order_by_rank(const Json& rows,
                      const Columns& columns,
                      const std::vector<int>& ranks,
                      const Terminal& terminal)
{
    const auto grid = arrange(rows, columns);
    if (terminal.width <= 0 || grid.columns.size() != columns.size()) return columns;
    std::vector<Extent> extents;
    for (std::size_t i = 0; i < columns.size(); ++i)
        extents.push_back(measure_column(grid, i).extent);
    const auto chosen =
        choose_columns(extents, ranks, static_cast<std::size_t>(terminal.width), column_gap);
    Columns ordered;
    for (const auto i : chosen)
        ordered.push_back(columns[i]);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (std::ranges::find(chosen, i) == chosen.end()) ordered.push_back(columns[i]);
    }
    return ordered;
}

}  // namespace ponk::output

// SPDX-License-Identifier: Apache-2.0
#include "output/table_layout.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "output/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ponk::output {

namespace {

using Places = KeyedMap<std::size_t, std::string_view>;

bool all_are(const std::vector<const Json*>& items, Json::Type type)
{
    return std::all_of(
        items.begin(), items.end(), [type](const Json* item) { return item->type() == type; });
}

Columns union_of_keys(const std::vector<const Json*>& objects)
{
    Columns columns;
    Places seen;
    for (const auto* object : objects) {
        for (const auto& [key, value] : object->as_object()) {
            if (seen.try_emplace(key, columns.size()).second) columns.push_back({.key = key});
        }
    }
    return columns;
}

Grid from_objects(const std::vector<const Json*>& objects, const Columns& columns)
{
    Grid grid{columns.empty() ? union_of_keys(objects) : columns, {}};
    Places places;
    for (std::size_t i = 0; i < grid.columns.size(); ++i)
        places.emplace(grid.columns[i].key, i);
    for (const auto* object : objects) {
        auto& row = grid.rows.emplace_back(grid.columns.size());
        for (const auto& [key, value] : object->as_object()) {
            if (const auto place = places.find(key); place != places.end())
                row[place->second] = &value;
        }
    }
    return grid;
}

Grid from_lists(const std::vector<const Json*>& lists)
{
    Grid grid;
    for (const auto* list : lists) {
        auto& row = grid.rows.emplace_back();
        for (const auto& item : list->as_array())
            row.push_back(&item);
        while (grid.columns.size() < row.size())
            grid.columns.push_back({.key = fmt::format("Column{}", grid.columns.size() + 1)});
    }
    for (auto& row : grid.rows)
        row.resize(grid.columns.size());
    return grid;
}

std::size_t total(const std::vector<Extent>& extents,
                  std::size_t count,
                  std::size_t gap,
                  std::size_t Extent::*part)
{
    auto sum = (count - 1) * gap;
    for (std::size_t i = 0; i < count; ++i)
        sum += extents[i].*part;
    return sum;
}

// The largest limit on every column's width with which all together take at most `room`.
std::size_t common_limit(const std::vector<Extent>& extents, std::size_t count, std::size_t room)
{
    std::size_t low = 1;
    std::size_t high = room;
    while (low < high) {
        const auto limit = (low + high + 1) / 2;
        std::size_t sum = 0;
        for (std::size_t i = 0; i < count; ++i)
            sum += std::max(extents[i].least, std::min(extents[i].wanted, limit));
        if (sum <= room) {
            low = limit;
        } else {
            high = limit - 1;
        }
    }
    return low;
}

}  // namespace

Grid arrange(const Json& document, const Columns& columns)
{
    std::vector<const Json*> items;
    if (document.is_array()) {
        for (const auto& item : document.as_array())
            items.push_back(&item);
    } else if (!document.is_null()) {
        items.push_back(&document);
    }
    if (items.empty()) return {};
    if (all_are(items, Json::Type::object)) return from_objects(items, columns);
    if (all_are(items, Json::Type::array)) return from_lists(items);
    Grid grid{{{.key = "Result"}}, {}};
    for (const auto* item : items)
        grid.rows.push_back({item});
    return grid;
}

Measure measure_column(const Grid& grid, std::size_t column)
{
    const auto& said = grid.columns[column];
    bool numbers = false;
    bool others = false;
    std::size_t widest = 0;
    for (const auto& row : grid.rows) {
        const auto* value = row[column];
        if (!value || value->is_null()) continue;
        widest = std::max(widest, display_width(cell_text(*value)));
        (value->is_number() ? numbers : others) = true;
    }
    const bool numeric = numbers && !others;
    const auto title = printable(said.title.empty() ? said.key : said.title);
    const auto wanted = std::max(widest, display_width(title));
    // Digits that are cut off would make another number: only the title may shrink.
    const bool title_shrinks = numeric && said.min < whole;
    const auto least =
        std::min(wanted, title_shrinks ? widest : std::max<std::size_t>(said.min, 1));
    return {{wanted, least}, numeric};
}

std::vector<std::size_t> choose_columns(const std::vector<Extent>& extents,
                                        const std::vector<int>& ranks,
                                        std::size_t room,
                                        std::size_t gap)
{
    std::vector<std::size_t> kept;
    std::size_t needed = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        kept.push_back(i);
        needed += extents[i].least + (i > 0 ? gap : 0);
    }
    while (kept.size() > 1 && needed > room) {
        auto victim = kept.begin();
        for (auto at = kept.begin(); at != kept.end(); ++at)
            if (ranks[*at] >= ranks[*victim]) victim = at;
        needed -= extents[*victim].least + gap;
        kept.erase(victim);
    }
    return kept;
}

std::vector<std::size_t>
fit_columns(const std::vector<Extent>& extents, std::size_t room, std::size_t gap)
{
    auto count = extents.size();
    while (count > 1 && total(extents, count, gap, &Extent::least) > room)
        --count;
    std::vector<std::size_t> widths;
    if (count == 0) return widths;
    if (total(extents, count, gap, &Extent::wanted) <= room) {
        for (std::size_t i = 0; i < count; ++i)
            widths.push_back(extents[i].wanted);
        return widths;
    }
    if (count == 1) return {std::min(extents[0].wanted, room)};
    auto left = room - (count - 1) * gap;
    const auto limit = common_limit(extents, count, left);
    for (std::size_t i = 0; i < count; ++i) {
        widths.push_back(std::max(extents[i].least, std::min(extents[i].wanted, limit)));
        left -= widths.back();
    }
    // A few columns remain because the limit is whole: the first ones that want more get them.
    for (std::size_t i = 0; i < count && left > 0; ++i) {
        if (widths[i] >= extents[i].wanted) continue;
        ++widths[i];
        --left;
    }
    return widths;
}

}  // namespace ponk::output

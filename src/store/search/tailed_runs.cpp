// SPDX-License-Identifier: Apache-2.0
#include "store/search/tailed_runs.hpp"

#include "store/points/metric_row.hpp"
#include "store/points/series.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ponk::store {

using query::search::Comparison;
using query::search::Entity;
using query::search::Operator;

namespace {

std::vector<std::string> metric_keys(const RunSearch& search)
{
    std::set<std::string> keys;
    const auto add = [&keys](const auto& all) {
        for (const auto& one : all) {
            if (is_of_metric(one.entity)) keys.insert(one.key);
        }
    };
    add(search.filter);
    add(search.order_by);
    return {keys.begin(), keys.end()};
}

// As compare() has it for statements: NaN differs from every number and is nothing else.
bool holds(const std::optional<double>& value, const Comparison& comparison)
{
    if (comparison.op == Operator::is_null) return !value;
    if (comparison.op == Operator::is_not_null) return value.has_value();
    const auto* number = std::get_if<double>(&comparison.value);
    if (!value || !number) return false;
    switch (comparison.op) {
    case Operator::equal:
        return *value == *number;
    case Operator::not_equal:
        return *value != *number;
    case Operator::greater:
        return *value > *number;
    case Operator::greater_equal:
        return *value >= *number;
    case Operator::less:
        return *value < *number;
    case Operator::less_equal:
        return *value <= *number;
    default:
        return false;
    }
}

}  // namespace

TailedRuns::Numbers TailedRuns::numbers_of(const LatestMetric& latest)
{
    Numbers numbers;
    if (latest.count > 0 && !latest.point.text) numbers.last = latest.point.value;
    if (latest.range && latest.range->low <= latest.range->high) {
        numbers.low = latest.range->low;
        numbers.high = latest.range->high;
    }
    return numbers;
}

Result<TailedRuns::Numbers> TailedRuns::find_numbers(db::Connection& reader,
                                                     std::int64_t run,
                                                     const std::string& key,
                                                     const PointsByKey& tail)
{
    const auto in_tail = std::find_if(
        tail.keys().begin(), tail.keys().end(), [&key](const auto& one) { return one.key == key; });
    if (in_tail != tail.keys().end())
        return numbers_of(TRY(grow_key(reader, run, *in_tail)).latest);
    const auto compacted = TRY(find_open_metric(reader, run, key));
    return compacted ? numbers_of(compacted->latest) : Numbers();
}

Result<TailedRuns>
TailedRuns::read(db::Connection& reader, const TailReader& tail, const RunSearch& search)
{
    TailedRuns runs;
    runs.keys_ = metric_keys(search);
    if (runs.keys_.empty()) return runs;
    const auto tails = TRY(tail.all_points(reader, runs.keys_));
    for (const auto& [run, points] : tails) {
        Values values;
        values.reserve(runs.keys_.size());
        for (const auto& key : runs.keys_)
            values.push_back(TRY(find_numbers(reader, run, key, points)));
        runs.values_.emplace_hint(runs.values_.end(), run, std::move(values));
    }
    return runs;
}

const TailedRuns::Numbers& TailedRuns::numbers_of(const Values& values,
                                                  const std::string& key) const
{
    const auto place = std::lower_bound(keys_.begin(), keys_.end(), key);
    return values[static_cast<std::size_t>(place - keys_.begin())];
}

std::vector<std::int64_t> TailedRuns::rows() const
{
    std::vector<std::int64_t> all;
    for (const auto& [row, values] : values_)
        all.push_back(row);
    return all;
}

std::vector<std::int64_t> TailedRuns::rows_for(const RunSearch& search) const
{
    std::vector<std::int64_t> found;
    for (const auto& [row, values] : values_) {
        const auto passes = [this, &of = values](const Comparison& comparison) {
            return comparison.entity != Entity::metric ||
                   holds(numbers_of(of, comparison.key).last, comparison);
        };
        if (std::all_of(search.filter.begin(), search.filter.end(), passes)) found.push_back(row);
    }
    return found;
}

void TailedRuns::set_marks(std::int64_t row,
                           const std::vector<OrderColumn>& columns,
                           Marks& marks) const
{
    const auto& values = values_.at(row);
    for (std::size_t at = 0; at < columns.size(); ++at) {
        const auto entity = columns[at].key.entity;
        if (!is_of_metric(entity)) continue;
        const auto& numbers = numbers_of(values, columns[at].key.key);
        const auto& value = entity == Entity::metric   ? numbers.last
                            : entity == Entity::lowest ? numbers.low
                                                       : numbers.high;
        if (!value) {
            marks[at] = {Rank::missing};
        } else if (std::isnan(*value)) {
            marks[at] = {Rank::nan};
        } else {
            marks[at] = {Rank::value, *value};
        }
    }
}

std::vector<OrderColumn> without_metrics(std::vector<OrderColumn> columns)
{
    for (auto& column : columns) {
        if (is_of_metric(column.key.entity))
            column = {.key = column.key, .type = column.type, .value = "NULL"};
    }
    return columns;
}

RunSearch without_metrics(RunSearch search)
{
    std::erase_if(search.filter,
                  [](const Comparison& one) { return one.entity == Entity::metric; });
    return search;
}

}  // namespace ponk::store

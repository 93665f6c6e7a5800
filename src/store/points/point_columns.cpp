// SPDX-License-Identifier: Apache-2.0
#include "store/points/point_columns.hpp"

#include <cmath>

namespace ponk::store {

using model::MetricPoint;

void PointColumns::reserve(std::size_t count)
{
    steps.reserve(count);
    times.reserve(count);
    values.reserve(count);
    kinds.reserve(count);
}

void PointColumns::add(const MetricPoint& point)
{
    steps.push_back(point.step);
    times.push_back(point.time);
    values.push_back(point.value);
    const bool listed = point.form == MetricPoint::Form::list;
    kinds.push_back(static_cast<std::uint8_t>((listed ? list : 0) | (point.text ? text : 0)));
    if (point.text || !texts.empty()) {
        texts.resize(size());
        if (point.text) texts.back() = *point.text;
    }
}

void PointColumns::add(double value, std::int64_t step, std::int64_t time)
{
    steps.push_back(step);
    times.push_back(time);
    values.push_back(value);
    kinds.push_back(0);
    if (!texts.empty()) texts.resize(size());
}

void PointColumns::append(const PointColumns& other, std::size_t first, std::size_t last)
{
    const auto from = static_cast<std::ptrdiff_t>(first);
    const auto to = static_cast<std::ptrdiff_t>(last);
    const auto take = [from, to](auto& column, const auto& more) {
        column.insert(column.end(), more.begin() + from, more.begin() + to);
    };
    if (!other.texts.empty()) {
        texts.resize(size());
        take(texts, other.texts);
    }
    take(steps, other.steps);
    take(times, other.times);
    take(values, other.values);
    take(kinds, other.kinds);
    if (!texts.empty()) texts.resize(size());
}

MetricPoint PointColumns::point(const std::string& key, std::size_t at) const
{
    MetricPoint point;
    point.key = key;
    point.value = values[at];
    if (is_text(at)) point.text = texts[at];
    point.step = steps[at];
    point.time = times[at];
    if ((kinds[at] & list) != 0) point.form = MetricPoint::Form::list;
    return point;
}

ValueOrder::ValueOrder(double of) : value(std::isnan(of) ? 0 : of), nan(std::isnan(of)) {}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "store/points/points_by_key.hpp"

#include "base/keyed_hash.hpp"

namespace ponk::store {

using model::MetricPoint;

PointsByKey::PointsByKey(std::span<const MetricPoint> points)
{
    for (const auto& point : points)
        add(point);
}

std::optional<std::size_t> PointsByKey::find(std::string_view key) const
{
    if (keys_.empty()) return std::nullopt;
    // Whoever logs several names them in turn.
    const auto next = last_ + 1 == keys_.size() ? 0 : last_ + 1;
    for (const auto likely : {next, last_}) {
        if (keys_[likely].key == key) return likely;
    }
    return places_.find(keyed_hash(key),
                        [this, key](std::size_t place) { return keys_[place].key == key; });
}

PointColumns& PointsByKey::columns_of(std::string_view key)
{
    if (const auto known = find(key)) {
        last_ = *known;
    } else {
        last_ = keys_.size();
        places_.add(keyed_hash(key), last_);
        keys_.push_back({std::string(key), {}});
    }
    return keys_[last_].points;
}

void PointsByKey::add(const MetricPoint& point)
{
    columns_of(point.key).add(point);
    ++count_;
}

void PointsByKey::add_to_last(double value, std::int64_t step, std::int64_t time)
{
    auto& columns = keys_[last_].points;
    if (columns.size() == 1 && expected_ > 0) columns.reserve(expected_ / keys_.size());
    columns.add(value, step, time);
    ++count_;
}

void PointsByKey::add(std::string_view key, double value, std::int64_t step, std::int64_t time)
{
    columns_of(key);
    add_to_last(value, step, time);
}

bool PointsByKey::add_more(std::string_view key, double value, std::int64_t step, std::int64_t time)
{
    const auto known = find(key);
    if (!known) return false;
    last_ = *known;
    add_to_last(value, step, time);
    return true;
}

void PointsByKey::append(std::string_view key, const PointColumns& points)
{
    columns_of(key).append(points);
    count_ += points.size();
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "store/points/curve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ponk::store {

namespace {

std::size_t stretch_for(std::size_t count, std::size_t most)
{
    const auto room = std::max<std::size_t>(most, 4);
    if (count <= room) return 1;
    const auto stretches = (room - 2) / 2;  // two points each, besides the first and the last
    return (count + stretches - 1) / stretches;
}

// Texts and NaN have no height; they stay only where there is nothing else.
bool has_height(const model::MetricPoint& point)
{
    return !point.text && !std::isnan(point.value);
}

}  // namespace

Curve::Curve(std::size_t count, std::size_t most) : stretch_(stretch_for(count, most)) {}

void Curve::add(model::MetricPoint point)
{
    ++seen_;
    if (stretch_ == 1 || seen_ == 1) {
        kept_.push_back(std::move(point));
        return;
    }
    last_ = point;
    Seen seen{seen_, std::move(point)};
    if (low_high_.empty() || (!has_height(low_high_[0].point) && has_height(seen.point))) {
        low_high_ = {seen, seen};
    } else if (has_height(seen.point)) {
        if (seen.point.value < low_high_[0].point.value) low_high_[0] = seen;
        if (seen.point.value > low_high_[1].point.value) low_high_[1] = std::move(seen);
    }
    if (seen_ % stretch_ == 0) close_stretch();
}

// Neither the lowest nor the highest of the open stretch.
bool Curve::is_between(const PointColumns& points, std::size_t at) const
{
    if (stretch_ == 1 || low_high_.empty()) return false;
    const auto value = points.values[at];
    if (points.is_text(at) || std::isnan(value)) return true;
    return has_height(low_high_[0].point) && value >= low_high_[0].point.value &&
           value <= low_high_[1].point.value;
}

void Curve::add(const std::string& key,
                const PointColumns& points,
                std::size_t first,
                std::size_t last)
{
    for (auto at = first; at < last; ++at) {
        if (at + 1 < last && is_between(points, at)) {
            ++seen_;
            if (seen_ % stretch_ == 0) close_stretch();
        } else {
            add(points.point(key, at));
        }
    }
}

void Curve::close_stretch()
{
    if (low_high_.empty()) return;
    if (low_high_[0].number > low_high_[1].number) std::swap(low_high_[0], low_high_[1]);
    for (auto& seen : low_high_) {
        if (seen.number == last_kept_) continue;  // lowest and highest are the same
        last_kept_ = seen.number;
        kept_.push_back(std::move(seen.point));
    }
    low_high_.clear();
}

std::vector<model::MetricPoint> Curve::finish()
{
    close_stretch();
    if (stretch_ > 1 && seen_ > 1 && last_kept_ != seen_) kept_.push_back(std::move(last_));
    return std::move(kept_);
}

}  // namespace ponk::store

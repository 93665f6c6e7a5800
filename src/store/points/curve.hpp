// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run.hpp"
#include "store/points/point_columns.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ponk::store {

// Reduces a series, point by point, to what a picture of it shows: its first and last point, and
// the lowest and the highest of each stretch between. Not thread-safe.
class Curve {
public:
    // `count` points will come; at most `most` (4 or more) shall stay.
    Curve(std::size_t count, std::size_t most);
    void add(model::MetricPoint point);
    // Points `first` to the one before `last`; most of them are only looked at.
    void
    add(const std::string& key, const PointColumns& points, std::size_t first, std::size_t last);
    // What stayed, in the order of arrival.
    std::vector<model::MetricPoint> finish();

private:
    struct Seen {
        std::size_t number = 0;
        model::MetricPoint point;
    };
    void close_stretch();
    [[nodiscard]] bool is_between(const PointColumns& points, std::size_t at) const;

    std::size_t stretch_;  // points that become two; 1: all stay
    std::size_t seen_ = 0;
    std::size_t last_kept_ = 0;   // the number of the point kept last
    std::vector<Seen> low_high_;  // of the open stretch: none or two
    model::MetricPoint last_;
    std::vector<model::MetricPoint> kept_;
};

}  // namespace ponk::store

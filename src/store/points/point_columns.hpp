// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/run.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace ponk::store {

// Points of one key, column by column: a tenth of the room that MetricPoints take. Not thread-safe.
struct PointColumns {
    // Bits of a kind; none: a number that was logged by itself.
    static constexpr std::uint8_t list = 1;  // logged as one of a list
    static constexpr std::uint8_t text = 2;  // no number; see texts

    std::vector<std::int64_t> steps;
    std::vector<std::int64_t> times;
    std::vector<double> values;
    std::vector<std::uint8_t> kinds;
    std::vector<std::string> texts;  // one for each point, or none at all when no point has any

    [[nodiscard]] std::size_t size() const { return steps.size(); }
    [[nodiscard]] bool empty() const { return steps.empty(); }
    [[nodiscard]] bool is_text(std::size_t at) const { return (kinds[at] & text) != 0; }
    void reserve(std::size_t count);
    void add(const model::MetricPoint& point);
    // A number that was logged by itself.
    void add(double value, std::int64_t step, std::int64_t time);
    // Those from `first` to the one before `last`.
    void append(const PointColumns& other, std::size_t first, std::size_t last);
    void append(const PointColumns& other) { append(other, 0, other.size()); }
    [[nodiscard]] model::MetricPoint point(const std::string& key, std::size_t at) const;
};

// How values are ordered among points of one step and time: NaN counts as 0, behind 0 itself.
struct ValueOrder {
    double value = 0;
    bool nan = false;

    explicit ValueOrder(double of);
    friend std::partial_ordering operator<=>(const ValueOrder&, const ValueOrder&) = default;
};

}  // namespace ponk::store

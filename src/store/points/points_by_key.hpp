// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/key_places.hpp"
#include "store/points/point_columns.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::store {

// Points of several keys, by key; keys in the order of their first point. Not thread-safe.
class PointsByKey {
public:
    struct Key {
        std::string key;
        PointColumns points;
    };

    PointsByKey() = default;
    explicit PointsByKey(std::span<const model::MetricPoint> points);

    [[nodiscard]] std::size_t size() const { return count_; }  // points
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }

    // Makes room for about so many, as soon as it shows how they spread over keys.
    void expect(std::size_t points) { expected_ = points; }
    void add(const model::MetricPoint& point);
    // A number that was logged by itself.
    void add(std::string_view key, double value, std::int64_t step, std::int64_t time);
    // The same for a key that has points; false when it has none.
    bool add_more(std::string_view key, double value, std::int64_t step, std::int64_t time);
    void append(std::string_view key, const PointColumns& points);

private:
    [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const;
    PointColumns& columns_of(std::string_view key);
    void add_to_last(double value, std::int64_t step, std::int64_t time);

    std::vector<Key> keys_;
    KeyPlaces places_;
    std::size_t count_ = 0;
    std::size_t expected_ = 0;
    std::size_t last_ = 0;  // the place of the key that was added to last
};

}  // namespace ponk::store

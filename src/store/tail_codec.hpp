// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "store/point_columns.hpp"

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

// Points of one request as the table `tail` holds them, docs/design/point-chunk.md. Pure.
namespace ponk::store {

std::string encode_tail(std::span<const model::MetricPoint> points);

// Points of several keys, by key; keys in the order of their first point. Not thread-safe.
class PointsByKey {
public:
    [[nodiscard]] std::size_t size() const { return count_; }  // points
    void add(const model::MetricPoint& point);
    // All of them at once.
    void add(std::string_view key, const PointColumns& points);
    // Appends what `encode_tail` made; `damaged` for other bytes.
    Result<> add_tail(std::string_view bytes);

    struct Key {
        std::string key;
        PointColumns points;
    };
    [[nodiscard]] const std::vector<Key>& keys() const { return keys_; }

private:
    std::size_t place_of(std::string_view key);

    std::unordered_map<std::string, std::size_t> places_;
    std::vector<Key> keys_;
    std::size_t count_ = 0;
};

}  // namespace ponk::store

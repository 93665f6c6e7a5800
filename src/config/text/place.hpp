// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

namespace ponk::config {

// Where something is in a text: both count from 1, columns in code points. Line 0 means that
// no text says it: it is a default.
struct Place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    friend bool operator==(const Place&, const Place&) = default;
};

// A value together with the place that gave it.
template <class T>
struct Located {
    T value{};
    Place place{};

    Located() = default;
    Located(T initial) : value(std::move(initial)) {}
    Located(T initial, Place where) : value(std::move(initial)), place(where) {}

    [[nodiscard]] bool given() const noexcept { return place.line != 0; }
    const T& operator*() const noexcept { return value; }
    const T* operator->() const noexcept { return &value; }
};

}  // namespace ponk::config

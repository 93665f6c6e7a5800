// SPDX-License-Identifier: Apache-2.0
#include "query/order.hpp"

#include <cmath>

namespace ponk::query {

namespace {

std::partial_ordering compare_mixed(std::int64_t integer, double real)
{
    constexpr double two_to_63 = 9223372036854775808.0;
    if (std::isnan(real)) return std::partial_ordering::unordered;
    if (real >= two_to_63) return std::partial_ordering::less;
    if (real < -two_to_63) return std::partial_ordering::greater;
    const double whole = std::trunc(real);
    const auto order = integer <=> static_cast<std::int64_t>(whole);
    if (order != 0) return order;
    return whole <=> real;
}

}  // namespace

std::partial_ordering compare(const Json& left, const Json& right)
{
    if (left.is_string() && right.is_string()) {
        // The order of UTF-8 bytes is that of code points.
        const auto order = left.as_string().compare(right.as_string());
        return order <=> 0;
    }
    if (!left.is_number() || !right.is_number()) return std::partial_ordering::unordered;
    if (left.is_integer() && right.is_integer()) return left.as_integer() <=> right.as_integer();
    if (left.is_integer()) return compare_mixed(left.as_integer(), right.as_double());
    if (right.is_integer()) return 0 <=> compare_mixed(right.as_integer(), left.as_double());
    return left.as_double() <=> right.as_double();
}

}  // namespace ponk::query

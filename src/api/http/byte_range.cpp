// SPDX-License-Identifier: Apache-2.0
#include "api/http/byte_range.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace ponk::api {

namespace {

// Digits alone; a number that is too large is the largest.
std::optional<std::uint64_t> position(std::string_view text)
{
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    const auto number = parse_integer(text);
    return number ? static_cast<std::uint64_t>(*number) : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

ByteRange ByteRange::of(std::string_view header, std::uint64_t file_size)
{
    const ByteRange whole{Kind::whole, 0, file_size};
    constexpr std::string_view unit = "bytes=";
    if (!header.starts_with(unit)) return whole;
    const auto ends = split(trim(header.substr(unit.size())), '-');
    if (ends.size() != 2) return whole;
    const auto first = position(ends[0]);
    const auto last = position(ends[1]);
    if (ends[0].empty()) {  // so many at the end
        if (!last) return whole;
        const auto size = std::min(*last, file_size);
        if (size == 0) return {Kind::outside, 0, 0};
        return {Kind::part, file_size - size, size};
    }
    if (!first || (!last && !ends[1].empty())) return whole;
    if (last && *last < *first) return whole;
    if (*first >= file_size) return {Kind::outside, 0, 0};
    const auto end = std::min(last.value_or(file_size - 1), file_size - 1);
    return {Kind::part, *first, end - *first + 1};
}

std::string ByteRange::text(std::uint64_t file_size) const
{
    if (kind == Kind::outside) return fmt::format("bytes */{}", file_size);
    return fmt::format("bytes {}-{}/{}", from, from + size - 1, file_size);
}

}  // namespace ponk::api

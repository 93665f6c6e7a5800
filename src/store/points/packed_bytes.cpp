// SPDX-License-Identifier: Apache-2.0
#include "store/points/packed_bytes.hpp"

#include <cfloat>
#include <cmath>

namespace ponk::store {

bool is_float(double value)
{
    if (std::isnan(value) || std::isinf(value)) return true;
    return std::fabs(value) <= double{FLT_MAX} && double{static_cast<float>(value)} == value;
}

void put_number(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7U)
        out.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    out.push_back(static_cast<char>(value));
}

void put_signed(std::string& out, std::int64_t value)
{
    put_number(out, to_zigzag(value));
}

void put_fixed(std::string& out, std::uint64_t value)
{
    for (unsigned at = 0; at < 8; ++at)
        out.push_back(static_cast<char>(value >> (8 * at)));
}

void put_text(std::string& out, std::string_view text)
{
    put_number(out, text.size());
    out.append(text);
}

std::optional<std::uint64_t> PackedReader::fixed()
{
    const auto all = bytes(8);
    if (!all) return std::nullopt;
    std::uint64_t value = 0;
    for (unsigned at = 0; at < 8; ++at)
        value |= std::uint64_t{static_cast<std::uint8_t>((*all)[at])} << (8 * at);
    return value;
}

std::optional<std::string_view> PackedReader::text()
{
    const auto size = number();
    return size ? bytes(*size) : std::nullopt;
}

std::optional<std::string_view> PackedReader::bytes(std::uint64_t size)
{
    if (size > rest_.size()) return std::nullopt;
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
}

}  // namespace ponk::store

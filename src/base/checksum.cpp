// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <array>

namespace ponk {

namespace {

using CrcTable = std::array<std::uint32_t, 256>;

constexpr CrcTable crc_table(std::uint32_t polynomial)
{
    CrcTable entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1U) ^ ((value & 1U) != 0 ? polynomial : 0U);
        entries.at(i) = value;
    }
    return entries;
}

std::uint32_t crc_with(const CrcTable& table, std::string_view bytes, std::uint32_t seed)
{
    std::uint32_t crc = ~seed;
    for (const char c : bytes)
        crc = (crc >> 8U) ^ table.at((crc ^ static_cast<unsigned char>(c)) & 0xffU);
    return ~crc;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t seed)
{
    static constexpr auto table = crc_table(0xedb88320U);
    return crc_with(table, bytes, seed);
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed)
{
    static constexpr auto table = crc_table(0x82f63b78U);
    return crc_with(table, bytes, seed);
}

}  // namespace ponk

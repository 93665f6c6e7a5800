// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Event files as TensorBoard's writers make them, for tests.
namespace ponk::executor {

inline std::string little_endian(std::uint64_t value, std::size_t size)
{
    std::string out;
    for (std::size_t i = 0; i < size; ++i)
        out += static_cast<char>((value >> (8 * i)) & 0xffU);
    return out;
}

inline std::string masked_checksum(std::string_view bytes)
{
    const auto plain = crc32c(bytes);
    return little_endian(((plain >> 15U) | (plain << 17U)) + 0xa282ead8U, 4);
}

inline std::string event_record(const std::string& event)
{
    const auto length = little_endian(event.size(), 8);
    return length + masked_checksum(length) + event + masked_checksum(event);
}

inline std::string varint(std::uint64_t value)
{
    std::string out;
    for (; value >= 0x80; value >>= 7U)
        out += static_cast<char>((value & 0x7fU) | 0x80U);
    return out + static_cast<char>(value);
}

inline std::string bytes_field(unsigned number, const std::string& bytes)
{
    return varint(number * 8 + 2) + varint(bytes.size()) + bytes;
}

inline std::string wall_time(double seconds)
{
    return varint(1 * 8 + 1) + little_endian(std::bit_cast<std::uint64_t>(seconds), 8);
}

// The first record of a file; the time is what tells it from others.
inline std::string event_file_begin(double seconds)
{
    return event_record(wall_time(seconds) + bytes_field(3, "brain.Event:2"));
}

inline std::string scalars_record(const std::vector<std::pair<std::string, float>>& values,
                                  std::uint64_t step)
{
    std::string summary;
    for (const auto& [tag, value] : values)
        summary += bytes_field(1,
                               bytes_field(1, tag) + varint(2 * 8 + 5) +
                                   little_endian(std::bit_cast<std::uint32_t>(value), 4));
    return event_record(wall_time(1.5) + varint(2 * 8) + varint(step) + bytes_field(5, summary));
}

inline std::string scalar_record(const std::string& tag, float value, std::uint64_t step)
{
    return scalars_record({{tag, value}}, step);
}

}  // namespace ponk::executor

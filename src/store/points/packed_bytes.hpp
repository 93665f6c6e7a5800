// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

// Numbers and texts packed into bytes, as blobs of the database hold them. Pure.
namespace ponk::store {

// Small numbers of either sign become small ones without: 0, -1, 1, -2… to 0, 1, 2, 3…
constexpr std::uint64_t to_zigzag(std::int64_t value)
{
    return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t from_zigzag(std::uint64_t value)
{
    return static_cast<std::int64_t>((value >> 1U) ^ (~(value & 1U) + 1));
}

// The bits of a number to store; all NaNs are one.
inline std::uint64_t bits_of(double value)
{
    return std::bit_cast<std::uint64_t>(value == value ? value
                                                       : std::numeric_limits<double>::quiet_NaN());
}

// Whether it is the same number as a float; all NaNs are.
bool is_float(double value);

// Seven bits a byte, the lowest first; the highest bit says that more follow.
void put_number(std::string& out, std::uint64_t value);
void put_signed(std::string& out, std::int64_t value);
// Eight bytes, the lowest first.
void put_fixed(std::string& out, std::uint64_t value);
// Its length as a number, then its bytes.
void put_text(std::string& out, std::string_view text);

// Takes the same apart. Past the end, or where a number has no end, everything is absent.
class PackedReader {
public:
    explicit PackedReader(std::string_view bytes) : rest_(bytes) {}

    std::optional<std::uint8_t> byte()
    {
        if (rest_.empty()) return std::nullopt;
        const auto first = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return first;
    }
    std::optional<std::uint64_t> number()
    {
        std::uint64_t value = 0;
        std::size_t at = 0;
        for (unsigned shift = 0; shift < 64 && at < rest_.size(); shift += 7) {
            const auto next = static_cast<std::uint8_t>(rest_[at++]);
            const std::uint64_t part = next & 0x7fU;
            if (shift == 63 && part > 1) return std::nullopt;
            value |= part << shift;
            if (next < 0x80) {
                rest_.remove_prefix(at);
                return value;
            }
        }
        return std::nullopt;
    }
    std::optional<std::int64_t> signed_number()
    {
        const auto value = number();
        return value ? std::optional(from_zigzag(*value)) : std::nullopt;
    }
    std::optional<std::uint64_t> fixed();
    std::optional<std::string_view> text();
    std::optional<std::string_view> bytes(std::uint64_t size);
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    [[nodiscard]] std::size_t left() const { return rest_.size(); }

private:
    std::string_view rest_;
};

}  // namespace ponk::store

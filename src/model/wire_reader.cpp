// SPDX-License-Identifier: Apache-2.0
#include "model/wire_reader.hpp"

#include <bit>

namespace ponk::model {

double double_of_bits(std::uint64_t bits)
{
    return std::bit_cast<double>(bits);
}

double float_of_bits(std::uint64_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

double WireReader::Field::as_double() const
{
    return double_of_bits(value);
}

double WireReader::Field::as_float() const
{
    return float_of_bits(value);
}

std::optional<std::uint64_t> WireReader::varint()
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
        const auto byte = static_cast<std::uint8_t>(rest_[i]);
        value |= std::uint64_t{byte & 0x7fU} << (7 * i);
        if ((byte & 0x80U) != 0) continue;
        rest_.remove_prefix(i + 1);
        return value;
    }
    failed_ = true;
    return std::nullopt;
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size)
{
    if (rest_.size() < size) {
        failed_ = true;
        return std::nullopt;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << (8 * i);
    rest_.remove_prefix(size);
    return value;
}

std::optional<WireReader::Field> WireReader::next()
{
    if (rest_.empty() || failed_) return std::nullopt;
    const auto key = varint();
    if (!key) return std::nullopt;
    Field field{.number = *key >> 3U, .kind = Field::Kind::varint, .value = 0, .bytes = {}};
    std::optional<std::uint64_t> value;
    switch (*key & 7U) {
    case 0:
        value = varint();
        break;
    case 1:
        field.kind = Field::Kind::fixed64;
        value = fixed(8);
        break;
    case 2:
        field.kind = Field::Kind::bytes;
        value = varint();
        if (value && *value > rest_.size()) value.reset();
        if (value) {
            field.bytes = rest_.substr(0, *value);
            rest_.remove_prefix(*value);
        }
        break;
    case 5:
        field.kind = Field::Kind::fixed32;
        value = fixed(4);
        break;
    default:  // groups, which nobody has written for many years
        break;
    }
    if (!value || field.number == 0) {
        failed_ = true;
        return std::nullopt;
    }
    field.value = *value;
    return field;
}

}  // namespace ponk::model

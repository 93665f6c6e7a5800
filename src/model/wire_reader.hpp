// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ponk::model {

// Reads the fields of one protocol buffer message, in their order. What is not
// such a message ends the reading with `failed`.
class WireReader {
public:
    explicit WireReader(std::string_view bytes) : rest_(bytes) {}

    struct Field {
        std::uint64_t number = 0;
        enum class Kind { varint, fixed64, bytes, fixed32 } kind = Kind::varint;
        std::uint64_t value = 0;  // of a number, as its bits
        std::string_view bytes;   // of a text or message

        [[nodiscard]] bool is(std::uint64_t wanted, Kind of) const noexcept
        {
            return number == wanted && kind == of;
        }
        [[nodiscard]] double as_double() const;
        [[nodiscard]] double as_float() const;
    };

    // nullopt at the end, and where it cannot be read.
    std::optional<Field> next();
    // One number of a packed list.
    std::optional<std::uint64_t> varint();
    std::optional<std::uint64_t> fixed(std::size_t size);
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

private:
    std::string_view rest_;
    bool failed_ = false;
};

double double_of_bits(std::uint64_t bits);
double float_of_bits(std::uint64_t bits);

}  // namespace ponk::model

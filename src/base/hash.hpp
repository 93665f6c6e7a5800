// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ponk {

// A SHA-256 value; the text form is 64 lower-case hex digits.
struct Digest {
    std::array<std::uint8_t, 32> bytes{};

    [[nodiscard]] std::string text() const;
    friend auto operator<=>(const Digest&, const Digest&) = default;
};

// False when `text` is not 64 hex digits.
bool parse_digest(std::string_view text, Digest& out);

// Incremental SHA-256, with the processor's instructions where it has them.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;

    void update(std::string_view bytes);
    // Ends the computation and starts the next.
    Digest finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

Digest sha256(std::string_view bytes);

// SHA-1, for comparing with ids that git made; protects nothing.
std::array<std::uint8_t, 20> sha1(std::string_view bytes);

// CRC-32 (IEEE 802.3, as zlib has it), the checksum of metric journals: scripts in any language
// have it at hand.
std::uint32_t crc32(std::string_view bytes, std::uint32_t seed = 0);

// CRC-32C (Castagnoli).
std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed = 0);

// Bytes from the kernel's random generator.
std::string random_bytes(std::size_t count);

}  // namespace ponk

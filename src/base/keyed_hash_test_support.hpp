// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ponk {

// 2^doublings texts that are one to std::hash of libstdc++ (a Murmur hash whose seed is fixed).
// Blocks of eight bytes are mixed into the hash one after the other; two blocks whose mixed values
// differ in the highest bit only make hashes that differ in the highest bit only, and the next two
// undo it. None of the bytes has to be escaped in JSON.
class CollidingKeys {
public:
    static std::vector<std::string> make(int doublings)
    {
        const auto [one, other] = find_pair();
        std::vector<std::string> keys;
        for (std::size_t number = 0; number < std::size_t{1} << doublings; ++number) {
            std::string key;
            for (int bit = 0; bit < doublings; ++bit) {
                const auto& block = (number >> bit & 1U) != 0 ? one : other;
                key += block + block;
            }
            keys.push_back(std::move(key));
        }
        return keys;
    }

private:
    static constexpr std::uint64_t factor = 0xc6a4a7935bd1e995U;

    static constexpr std::uint64_t inverse_factor = [] {
        std::uint64_t inverse = factor;  // Newton's way; each round doubles the bits that are right
        for (int round = 0; round < 6; ++round)
            inverse *= 2 - factor * inverse;
        return inverse;
    }();

    static std::uint64_t mix(std::uint64_t block)
    {
        block *= factor;
        return (block ^ block >> 47U) * factor;
    }

    static std::uint64_t unmix(std::uint64_t mixed)
    {
        mixed *= inverse_factor;
        return (mixed ^ mixed >> 47U) * inverse_factor;
    }

    static std::string text_of(std::uint64_t block)
    {
        std::string text(sizeof block, '\0');
        std::memcpy(text.data(), &block, sizeof block);
        return text;
    }

    static bool is_plain(const std::string& text)
    {
        for (const char each : text) {
            if (static_cast<unsigned char>(each) < 0x20 || each == '"' || each == '\\')
                return false;
        }
        return true;
    }

    static std::array<std::string, 2> find_pair()
    {
        for (std::uint64_t number = 1;; ++number) {
            const auto block = number * 0x9e3779b97f4a7c15U;
            const auto one = text_of(block);
            const auto other = text_of(unmix(mix(block) ^ std::uint64_t{1} << 63U));
            if (is_plain(one) && is_plain(other)) return {one, other};
        }
    }
};

}  // namespace ponk

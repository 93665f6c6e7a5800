// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/work_count.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ponk {

// Where each key is in a list that somebody else has: a table of hashes and places. It has no keys
// of its own, so a list of many short texts is not stored twice. Hashes are of `keyed_hash`. The
// size of a pointer, and empty until the first key; copies are independent.
class KeyPlaces {
public:
    KeyPlaces() = default;
    KeyPlaces(const KeyPlaces& other)
        : table_(other.table_ ? std::make_unique<Table>(*other.table_) : nullptr)
    {
    }
    KeyPlaces& operator=(const KeyPlaces& other) { return *this = KeyPlaces(other); }
    KeyPlaces(KeyPlaces&&) noexcept = default;
    KeyPlaces& operator=(KeyPlaces&&) noexcept = default;
    ~KeyPlaces() = default;

    [[nodiscard]] bool empty() const noexcept { return table_ == nullptr; }

    // `is_key(place)` compares the key that is searched for with the one at a place. It is asked
    // only where the hashes agree in 32 bits.
    template <class IsKey>
    [[nodiscard]] std::optional<std::size_t> find(std::uint64_t hash, const IsKey& is_key) const
    {
        if (!table_) return std::nullopt;
        const auto& slots = table_->slots;
        for (auto at = slot_of(hash >> 32U, slots.size());; at = (at + 1) & (slots.size() - 1)) {
            count_work();
            if (slots[at] == free_slot) return std::nullopt;
            const auto place = static_cast<std::size_t>((slots[at] & low_half) - 1);
            if (slots[at] >> 32U == hash >> 32U && is_key(place)) return place;
        }
    }
    // A key that is not there.
    void add(std::uint64_t hash, std::size_t place);
    void clear() { table_.reset(); }

private:
    static constexpr std::uint64_t free_slot = 0;
    static constexpr std::uint64_t low_half = 0xffff'ffffU;

    struct Table {
        std::vector<std::uint64_t> slots;  // half of the hash, and the place + 1; a power of two
        std::size_t used = 0;
    };

    // By the half of the hash that the slot keeps: a table that grows needs no keys.
    static std::size_t slot_of(std::uint64_t half, std::size_t slots)
    {
        return static_cast<std::size_t>(half * slots >> 32U);
    }
    static void put(std::vector<std::uint64_t>& slots, std::uint64_t slot);

    std::unique_ptr<Table> table_;
};

}  // namespace ponk

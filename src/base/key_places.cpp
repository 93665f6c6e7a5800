// SPDX-License-Identifier: Apache-2.0
#include "base/key_places.hpp"

namespace ponk {

void KeyPlaces::put(std::vector<std::uint64_t>& slots, std::uint64_t slot)
{
    auto at = slot_of(slot >> 32U, slots.size());
    for (; slots[at] != free_slot; at = (at + 1) & (slots.size() - 1))
        count_work();
    slots[at] = slot;
}

void KeyPlaces::add(std::uint64_t hash, std::size_t place)
{
    if (!table_) table_ = std::make_unique<Table>(Table{std::vector<std::uint64_t>(64), 0});
    auto& [slots, used] = *table_;
    if (++used > slots.size() / 4 * 3) {
        std::vector<std::uint64_t> larger(slots.size() * 2);
        for (const auto slot : slots) {
            if (slot != free_slot) put(larger, slot);
        }
        slots = std::move(larger);
    }
    put(slots, (hash >> 32U) << 32U | ((std::uint64_t{place} + 1) & low_half));
}

}  // namespace ponk

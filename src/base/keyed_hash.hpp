// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace ponk {

// SipHash-1-3 with a key that each process draws for itself. std::hash has a fixed seed: whoever
// knows it makes a million texts that fall into one bucket, and a table of them is a list. Tables
// whose keys come from elsewhere use this.
[[nodiscard]] std::uint64_t keyed_hash(std::string_view bytes) noexcept;
// The same for three numbers.
[[nodiscard]] std::uint64_t
keyed_hash(std::uint64_t one, std::uint64_t two, std::uint64_t three) noexcept;

struct KeyedHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view bytes) const noexcept { return keyed_hash(bytes); }
};

template <class Value, class Key = std::string>
using KeyedMap = std::unordered_map<Key, Value, KeyedHash, std::equal_to<>>;
template <class Key = std::string>
using KeyedSet = std::unordered_set<Key, KeyedHash, std::equal_to<>>;

}  // namespace ponk

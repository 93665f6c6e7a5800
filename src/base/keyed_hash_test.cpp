// SPDX-License-Identifier: Apache-2.0
#include "base/key_places.hpp"
#include "base/keyed_hash.hpp"
#include "base/keyed_hash_test_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ponk {
namespace {

template <class Table>
std::size_t longest_bucket(const Table& table)
{
    std::size_t longest = 0;
    for (std::size_t i = 0; i < table.bucket_count(); ++i)
        longest = std::max(longest, table.bucket_size(i));
    return longest;
}

TEST(KeyedHash, SpreadsKeysThatWereChosenToCollide)
{
    const auto keys = CollidingKeys::make(12);

    const std::unordered_set<std::string> plain(keys.begin(), keys.end());
    const KeyedSet<> keyed(keys.begin(), keys.end());

    EXPECT_EQ(longest_bucket(plain), keys.size());  // what an attacker wants
    EXPECT_LT(longest_bucket(keyed), 32U);
    EXPECT_EQ(keyed.size(), keys.size());
}

TEST(KeyedHash, DependsOnEachByteAndOnTheLength)
{
    const std::string text = "0123456789abcdef";
    std::unordered_set<std::uint64_t> hashes;
    for (std::size_t length = 0; length <= text.size(); ++length)
        hashes.insert(keyed_hash(std::string_view(text).substr(0, length)));
    for (std::size_t at = 0; at < text.size(); ++at) {
        auto changed = text;
        changed[at] = '\0';
        hashes.insert(keyed_hash(changed));
    }
    hashes.insert(keyed_hash(text + '\0'));

    EXPECT_EQ(hashes.size(), 2 * text.size() + 2);
    EXPECT_EQ(keyed_hash(text), keyed_hash(std::string(text)));
}

TEST(KeyPlaces, FindsEachKeyInAFewSteps)
{
    const auto keys = CollidingKeys::make(14);
    KeyPlaces places;
    const WorkCount work;
    std::size_t compared = 0;
    const auto find = [&](const std::string& key) {
        return places.find(keyed_hash(key), [&](std::size_t place) {
            ++compared;
            return keys[place] == key;
        });
    };

    for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_FALSE(find(keys[i]));
        places.add(keyed_hash(keys[i]), i);
    }
    const auto copy = places;
    places.clear();
    EXPECT_FALSE(find(keys[0]));
    places = copy;
    for (std::size_t i = 0; i < keys.size(); ++i)
        ASSERT_EQ(find(keys[i]), i);

    EXPECT_LT(work.steps(), 20 * keys.size());
    EXPECT_LT(compared, keys.size() + 100);
}

}  // namespace
}  // namespace ponk

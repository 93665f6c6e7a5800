// SPDX-License-Identifier: Apache-2.0
#include "base/keyed_hash.hpp"

#include "base/hash.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace ponk {

namespace {

using Key = std::array<std::uint64_t, 2>;

const Key& process_key()
{
    static const Key key = [] {
        const auto bytes = random_bytes(sizeof(Key));
        Key out{};
        std::memcpy(out.data(), bytes.data(), sizeof(Key));
        return out;
    }();
    return key;
}

class SipHash {
public:
    explicit SipHash(const Key& key)
        : a_(key[0] ^ 0x736f6d6570736575U), b_(key[1] ^ 0x646f72616e646f6dU),
          c_(key[0] ^ 0x6c7967656e657261U), d_(key[1] ^ 0x7465646279746573U)
    {
    }

    void add(std::uint64_t word)
    {
        d_ ^= word;
        round();
        a_ ^= word;
    }

    std::uint64_t finish()
    {
        c_ ^= 0xffU;
        round();
        round();
        round();
        return a_ ^ b_ ^ c_ ^ d_;
    }

private:
    void round()
    {
        a_ += b_;
        b_ = std::rotl(b_, 13) ^ a_;
        a_ = std::rotl(a_, 32);
        c_ += d_;
        d_ = std::rotl(d_, 16) ^ c_;
        a_ += d_;
        d_ = std::rotl(d_, 21) ^ a_;
        c_ += b_;
        b_ = std::rotl(b_, 17) ^ c_;
        c_ = std::rotl(c_, 32);
    }

    std::uint64_t a_;
    std::uint64_t b_;
    std::uint64_t c_;
    std::uint64_t d_;
};

}  // namespace

std::uint64_t keyed_hash(std::string_view bytes) noexcept
{
    SipHash hash(process_key());
    const auto length = bytes.size();
    std::uint64_t word = 0;
    for (; bytes.size() >= sizeof word; bytes.remove_prefix(sizeof word)) {
        std::memcpy(&word, bytes.data(), sizeof word);
        hash.add(word);
    }
    word = 0;
    if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
    hash.add(word | std::uint64_t{length} << 56U);
    return hash.finish();
}

std::uint64_t keyed_hash(std::uint64_t one, std::uint64_t two, std::uint64_t three) noexcept
{
    SipHash hash(process_key());
    hash.add(one);
    hash.add(two);
    hash.add(three);
    return hash.finish();
}

}  // namespace ponk

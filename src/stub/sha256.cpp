// SPDX-License-Identifier: Apache-2.0
#include "stub/sha256.hpp"

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace ponk::stub {

namespace {

alignas(16) constexpr std::uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Compress = void (*)(std::uint32_t*, const unsigned char*, std::size_t);

std::uint32_t turn(std::uint32_t value, unsigned bits)
{
    return value >> bits | value << (32 - bits);
}

void compress_plain(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks)
{
    for (; blocks > 0; --blocks, bytes += 64) {
        std::uint32_t w[64];
        for (unsigned i = 0; i < 16; ++i) {
            std::uint32_t word = 0;
            std::memcpy(&word, bytes + 4 * i, 4);
            w[i] = __builtin_bswap32(word);
        }
        for (unsigned i = 16; i < 64; ++i) {
            const auto s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
            const auto s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        std::uint32_t v[8];
        std::memcpy(v, state, sizeof v);
        for (unsigned i = 0; i < 64; ++i) {
            const auto s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
            const auto choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
            const auto one = v[7] + s1 + choice + constants[i] + w[i];
            const auto s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
            const auto two = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            std::memmove(v + 1, v, 7 * sizeof v[0]);
            v[4] += one;
            v[0] = one + two;
        }
        for (unsigned i = 0; i < 8; ++i)
            state[i] += v[i];
    }
}

#if defined(__x86_64__)

__attribute__((target("sha,sse4.1"))) void
compress_fast(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks)
{
    const auto* k = reinterpret_cast<const __m128i*>(constants);
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    // The instructions want the words as ABEF and CDGH.
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<__m128i*>(state)), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<__m128i*>(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8);
    __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks > 0; --blocks, bytes += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; ++i) {
            const auto* from = reinterpret_cast<const __m128i*>(bytes) + i;
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128(from), order);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            const __m128i word = w[i & 3];
            const __m128i sum = _mm_add_epi32(word, _mm_load_si128(k + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            if (i < 12) {
                const __m128i nearest = w[(i + 3) & 3];
                __m128i next = _mm_sha256msg1_epu32(word, w[(i + 1) & 3]);
                next = _mm_add_epi32(next, _mm_alignr_epi8(nearest, w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(next, nearest);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(high, low, 8));
}

Compress choose()
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    const bool sse = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
    const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
    return sse && sha ? compress_fast : compress_plain;
}

#elif defined(__aarch64__)

__attribute__((target("+crypto"))) void
compress_fast(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks)
{
    uint32x4_t abcd = vld1q_u32(state);
    uint32x4_t efgh = vld1q_u32(state + 4);
    for (; blocks > 0; --blocks, bytes += 64) {
        const uint32x4_t abcd_before = abcd;
        const uint32x4_t efgh_before = efgh;
        uint32x4_t w[4];
        for (int i = 0; i < 4; ++i)
            w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes + 16 * i)));
        for (int i = 0; i < 16; ++i) {
            const uint32x4_t sum = vaddq_u32(w[i & 3], vld1q_u32(constants + 4 * i));
            const uint32x4_t kept = abcd;
            abcd = vsha256hq_u32(abcd, efgh, sum);
            efgh = vsha256h2q_u32(efgh, kept, sum);
            if (i < 12) {
                const uint32x4_t half = vsha256su0q_u32(w[i & 3], w[(i + 1) & 3]);
                w[i & 3] = vsha256su1q_u32(half, w[(i + 2) & 3], w[(i + 3) & 3]);
            }
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

Compress choose()
{
    return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0 ? compress_fast : compress_plain;
}

#else

Compress choose()
{
    return compress_plain;
}

#endif

void compress(std::uint32_t* state, const unsigned char* bytes, std::size_t blocks)
{
    static Compress chosen = nullptr;
    if (!chosen) chosen = choose();
    chosen(state, bytes, blocks);
}

}  // namespace

void Sha256::start()
{
    static constexpr std::uint32_t first[8] = {0x6a09e667,
                                               0xbb67ae85,
                                               0x3c6ef372,
                                               0xa54ff53a,
                                               0x510e527f,
                                               0x9b05688c,
                                               0x1f83d9ab,
                                               0x5be0cd19};
    std::memcpy(state_, first, sizeof first);
    length_ = 0;
    held_ = 0;
}

void Sha256::update(const unsigned char* bytes, std::size_t size)
{
    length_ += size;
    if (held_ > 0) {
        const std::size_t part = size < 64 - held_ ? size : 64 - held_;
        std::memcpy(block_ + held_, bytes, part);
        held_ += part;
        bytes += part;
        size -= part;
        if (held_ < 64) return;
        compress(state_, block_, 1);
        held_ = 0;
    }
    compress(state_, bytes, size / 64);
    held_ = size % 64;
    std::memcpy(block_, bytes + (size - held_), held_);
}

void Sha256::finish(char* text)
{
    const std::uint64_t bits = __builtin_bswap64(length_ * 8);
    static constexpr unsigned char padding[64] = {0x80};
    update(padding, held_ < 56 ? 56 - held_ : 120 - held_);
    unsigned char tail[8];
    std::memcpy(tail, &bits, 8);
    update(tail, 8);
    for (unsigned i = 0; i < 64; ++i) {
        const unsigned digit = state_[i / 8] >> (28 - 4 * (i % 8)) & 15U;
        text[i] = "0123456789abcdef"[digit];
    }
    text[64] = '\0';
}

}  // namespace ponk::stub

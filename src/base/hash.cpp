// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include "base/text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>
#include <sys/random.h>

namespace ponk {

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
};

std::string Digest::text() const
{
    return to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool parse_digest(std::string_view text, Digest& out)
{
    if (text.size() != out.bytes.size() * 2) return false;
    const auto raw = from_hex(text);
    if (!raw) return false;
    std::copy(raw->begin(), raw->end(), out.bytes.begin());
    return true;
}

Sha256::Sha256() : state_(std::make_unique<State>())
{
    EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}

Sha256::~Sha256()
{
    EVP_MD_CTX_free(state_->context);
}

void Sha256::update(std::string_view bytes)
{
    EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
}

Digest Sha256::finish()
{
    Digest digest;
    EVP_DigestFinal_ex(state_->context, digest.bytes.data(), nullptr);
    EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
    return digest;
}

Digest sha256(std::string_view bytes)
{
    thread_local Sha256 hash;  // finish() made it ready for the next text
    hash.update(bytes);
    return hash.finish();
}

std::array<std::uint8_t, 20> sha1(std::string_view bytes)
{
    std::array<std::uint8_t, 20> out{};
    EVP_Digest(bytes.data(), bytes.size(), out.data(), nullptr, EVP_sha1(), nullptr);
    return out;
}

namespace {

using CrcTable = std::array<std::uint32_t, 256>;

constexpr CrcTable crc_table(std::uint32_t polynomial)
{
    CrcTable entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1U) ^ ((value & 1U) != 0 ? polynomial : 0U);
        entries.at(i) = value;
    }
    return entries;
}

std::uint32_t crc_with(const CrcTable& table, std::string_view bytes, std::uint32_t seed)
{
    std::uint32_t crc = ~seed;
    for (const char c : bytes)
        crc = (crc >> 8U) ^ table.at((crc ^ static_cast<unsigned char>(c)) & 0xffU);
    return ~crc;
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t seed)
{
    static constexpr auto table = crc_table(0xedb88320U);
    return crc_with(table, bytes, seed);
}

std::uint32_t crc32c(std::string_view bytes, std::uint32_t seed)
{
    static constexpr auto table = crc_table(0x82f63b78U);
    return crc_with(table, bytes, seed);
}

std::string random_bytes(std::size_t count)
{
    std::string out(count, '\0');
    std::size_t filled = 0;
    while (filled < count) {
        const auto got = ::getrandom(out.data() + filled, count - filled, 0);
        if (got > 0) filled += static_cast<std::size_t>(got);
    }
    return out;
}

}  // namespace ponk

// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include "base/text.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>

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

}  // namespace ponk

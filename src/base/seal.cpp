// SPDX-License-Identifier: Apache-2.0
#include "base/seal.hpp"

#include "base/hash.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstdlib>
#include <memory>

namespace ponk {

namespace {

constexpr std::size_t nonce_size = 12;
constexpr std::size_t tag_size = 16;

struct Freer {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Freer>;

const unsigned char* in(std::string_view bytes)
{
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

unsigned char* out(std::string& bytes, std::size_t offset)
{
    return reinterpret_cast<unsigned char*>(bytes.data()) + offset;
}

// A wrong key size or a library without AES-GCM is a mistake of ours, never of the input.
void must(bool succeeded)
{
    if (!succeeded) std::abort();
}

}  // namespace

std::string seal(std::string_view key, std::string_view plain, std::string_view context)
{
    must(key.size() == seal_key_size);
    const Cipher cipher(EVP_CIPHER_CTX_new());
    auto sealed = random_bytes(nonce_size);
    sealed.resize(nonce_size + plain.size() + tag_size);
    int written = 0;
    must(EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, in(key), in(sealed)) == 1);
    must(EVP_EncryptUpdate(
             cipher.get(), nullptr, &written, in(context), static_cast<int>(context.size())) == 1);
    must(EVP_EncryptUpdate(cipher.get(),
                           out(sealed, nonce_size),
                           &written,
                           in(plain),
                           static_cast<int>(plain.size())) == 1);
    must(EVP_EncryptFinal_ex(cipher.get(), out(sealed, nonce_size + plain.size()), &written) == 1);
    must(EVP_CIPHER_CTX_ctrl(cipher.get(),
                             EVP_CTRL_GCM_GET_TAG,
                             static_cast<int>(tag_size),
                             out(sealed, nonce_size + plain.size())) == 1);
    return sealed;
}

Result<std::string>
open_sealed(std::string_view key, std::string_view sealed, std::string_view context)
{
    must(key.size() == seal_key_size);
    if (sealed.size() < nonce_size + tag_size)
        return fail(ErrorKind::damaged, "sealed bytes are cut short");
    const Cipher cipher(EVP_CIPHER_CTX_new());
    const auto size = sealed.size() - nonce_size - tag_size;
    std::string plain(size, '\0');
    std::string tag(sealed.substr(nonce_size + size));
    int written = 0;
    must(EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, in(key), in(sealed)) == 1);
    must(EVP_DecryptUpdate(
             cipher.get(), nullptr, &written, in(context), static_cast<int>(context.size())) == 1);
    must(EVP_DecryptUpdate(cipher.get(),
                           out(plain, 0),
                           &written,
                           in(sealed.substr(nonce_size)),
                           static_cast<int>(size)) == 1);
    must(EVP_CIPHER_CTX_ctrl(
             cipher.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag_size), tag.data()) == 1);
    if (EVP_DecryptFinal_ex(cipher.get(), out(plain, size), &written) != 1) {
        wipe(plain);
        return fail(ErrorKind::damaged, "sealed bytes were changed or belong to another key");
    }
    return plain;
}

void wipe(std::string& bytes)
{
    OPENSSL_cleanse(bytes.data(), bytes.size());
    bytes.clear();
}

}  // namespace ponk

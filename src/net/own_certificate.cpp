// SPDX-License-Identifier: Apache-2.0
#include "net/own_certificate.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <memory>
#include <string>

namespace ponk::net {

namespace {

constexpr std::size_t longest_file = 1 << 16;
constexpr long day = 86'400;
constexpr long valid_days = 3650;
constexpr long renewal_days = 30;
// A clock that was wrong when it was made, or is now, must not make it invalid.
constexpr const char* valid_from = "20200101000000Z";

template <auto free>
struct Free {
    template <class T>
    void operator()(T* thing) const
    {
        free(thing);
    }
};
using Bio = std::unique_ptr<BIO, Free<::BIO_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<::EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<::X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<::X509_EXTENSION_free>>;

tl::unexpected<Error> not_made()
{
    ::ERR_clear_error();
    return fail(ErrorKind::internal, "OpenSSL cannot make a certificate");
}

Bio reader_of(const std::string& text)
{
    return Bio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::string> text_of(const Bio& bio)
{
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(bio.get(), &bytes);
    if (size <= 0) return not_made();
    return std::string(bytes, static_cast<std::size_t>(size));
}

bool is_good(const std::string& certificate_text, const std::string& key_text)
{
    const Certificate certificate(
        ::PEM_read_bio_X509(reader_of(certificate_text).get(), nullptr, nullptr, nullptr));
    const Key key(::PEM_read_bio_PrivateKey(reader_of(key_text).get(), nullptr, nullptr, nullptr));
    std::time_t renewal = std::time(nullptr) + renewal_days * day;
    const bool good = certificate && key &&
                      ::X509_check_private_key(certificate.get(), key.get()) == 1 &&
                      ::X509_cmp_time(::X509_get0_notAfter(certificate.get()), &renewal) > 0;
    ::ERR_clear_error();
    return good;
}

bool add_extension(X509* certificate, int kind, const char* value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    ::X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    const Extension extension(::X509V3_EXT_conf_nid(nullptr, &context, kind, value));
    return extension && ::X509_add_ext(certificate, extension.get(), -1) == 1;
}

// What strict clients want to see besides the names (RFC 5280, 4.2.1).
bool describe(X509* certificate, EVP_PKEY* key)
{
    auto* const name = ::X509_get_subject_name(certificate);
    const auto* const title = reinterpret_cast<const unsigned char*>("ponk on this machine");
    return ::X509_set_version(certificate, X509_VERSION_3) == 1 &&
           ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate),
                              static_cast<long>(std::time(nullptr))) == 1 &&
           ::ASN1_TIME_set_string_X509(::X509_getm_notBefore(certificate), valid_from) == 1 &&
           ::X509_gmtime_adj(::X509_getm_notAfter(certificate), valid_days * day) != nullptr &&
           ::X509_set_pubkey(certificate, key) == 1 &&
           ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, title, -1, -1, 0) == 1 &&
           ::X509_set_issuer_name(certificate, name) == 1 &&
           add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
           add_extension(certificate, NID_ext_key_usage, "serverAuth") &&
           add_extension(certificate, NID_subject_key_identifier, "hash") &&
           add_extension(certificate, NID_authority_key_identifier, "keyid:always") &&
           add_extension(certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") &&
           ::X509_sign(certificate, key, ::EVP_sha256()) > 0;
}

Result<> make(const CertificateFiles& files)
{
    const Key key(::EVP_EC_gen("P-256"));
    const Certificate certificate(::X509_new());
    if (!key || !certificate || !describe(certificate.get(), key.get())) return not_made();
    const Bio key_text(::BIO_new(::BIO_s_mem()));
    const Bio text(::BIO_new(::BIO_s_mem()));
    if (!key_text || !text ||
        ::PEM_write_bio_PrivateKey(
            key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
        ::PEM_write_bio_X509(text.get(), certificate.get()) != 1)
        return not_made();
    TRY(os::replace_file(files.key, TRY(text_of(key_text))));
    return os::replace_file(files.certificate, TRY(text_of(text)));
}

}  // namespace

Result<CertificateFiles> keep_own_certificate(const os::Path& folder)
{
    CertificateFiles files{folder / "loopback.crt", folder / "loopback.key"};
    const auto certificate = os::read_file_if_any(files.certificate, longest_file);
    const auto key = os::read_file_if_any(files.key, longest_file);
    const bool known = certificate && *certificate && key && *key;
    if (!known || !is_good(**certificate, **key)) TRY(make(files));
    return files;
}

}  // namespace ponk::net

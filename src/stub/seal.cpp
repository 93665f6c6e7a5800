// SPDX-License-Identifier: Apache-2.0
#include "stub/seal.hpp"

#include "stub/sha256.hpp"

#include <cstring>

namespace ponk::stub {

namespace {

constexpr std::size_t digits = 64;
constexpr char before_seal[] = "seal ";
constexpr std::size_t before_size = sizeof before_seal - 1;
constexpr char last_line[] = "end\n";
constexpr std::size_t last_size = sizeof last_line - 1;
constexpr std::size_t seal_size = before_size + digits + 1;

void update(Sha256& hash, const char* text, std::size_t size)
{
    hash.update(reinterpret_cast<const unsigned char*>(text), size);
}

// The key goes in twice: a hash of key and text alone could be continued by who has no key.
void compute(const char* key, const char* name, const char* text, std::size_t size, char* out)
{
    Sha256 inner;
    update(inner, key, std::strlen(key));
    update(inner, ":", 1);
    update(inner, name, std::strlen(name));
    update(inner, "\n", 1);
    update(inner, text, size);
    char between[digits + 1];
    inner.finish(between);
    Sha256 outer;
    update(outer, key, std::strlen(key));
    update(outer, ":", 1);
    update(outer, between, digits);
    outer.finish(out);
}

}  // namespace

template <std::size_t Size>
void add_seal(Line<Size>& text, const char* key, const char* name)
{
    if (key[0] != '\0') {
        char seal[digits + 1];
        compute(key, name, text.text, text.size, seal);
        text.add("%s%s\n", before_seal, seal);
    }
    text.add("%s", last_line);
}
template void add_seal(Line<1024>&, const char*, const char*);
template void add_seal(Line<8192>&, const char*, const char*);

long read_sealed(const char* key, const char* name, char* out, std::size_t room)
{
    const auto size = read_small(name, out, room);
    const auto ends = static_cast<long>(last_size + (key[0] != '\0' ? seal_size : 0));
    if (size < ends || std::memcmp(out + size - last_size, last_line, last_size) != 0) return -1;
    const auto rest = size - ends;
    if (key[0] != '\0') {
        char seal[digits + 1];
        compute(key, name, out, static_cast<std::size_t>(rest), seal);
        if (std::memcmp(out + rest, before_seal, before_size) != 0 ||
            std::memcmp(out + rest + before_size, seal, digits) != 0)
            return -1;
    }
    out[rest] = '\0';
    return rest;
}

}  // namespace ponk::stub

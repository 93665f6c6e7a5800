// SPDX-License-Identifier: Apache-2.0
#include "dockerapi/tar.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ponk::dockerapi {

namespace {

constexpr std::size_t block = 512;

struct Header {
    char name[100];
    char mode[8];
    char user[8];
    char group[8];
    char size[12];
    char modified[12];
    char checksum[8];
    char type;
    char link[100];
    char magic[6];
    char version[2];
    char user_name[32];
    char group_name[32];
    char device[16];
    char prefix[155];
    char rest[12];
};
static_assert(sizeof(Header) == block);

template <std::size_t n>
void put_octal(char (&field)[n], std::uint64_t value)
{
    const auto text = fmt::format("{:0{}o}", value, n - 1);
    // Too large for the field: a pax record says it.
    if (text.size() < n) std::memcpy(field, text.data(), text.size());
}

template <std::size_t n>
bool put_text(char (&field)[n], std::string_view text)
{
    std::memcpy(field, text.data(), std::min(n, text.size()));
    return text.size() <= n;
}

std::string block_of(const TarEntry& entry, char type, std::string& records)
{
    const auto record = [&records](std::string_view key, std::string_view value) {
        // A record's length counts its own digits.
        std::size_t length = key.size() + value.size() + 3;
        const auto digits = [](std::size_t n) { return fmt::format("{}", n).size(); };
        const auto with_one = length + digits(length);
        length += digits(with_one);
        records += fmt::format("{} {}={}\n", length, key, value);
    };
    Header header{};
    auto path = entry.path;
    if (entry.kind == TarEntry::Kind::folder && !path.ends_with('/')) path += '/';
    if (!put_text(header.name, path)) record("path", path);
    if (!put_text(header.link, entry.link)) record("linkpath", entry.link);
    put_octal(header.mode, entry.mode & 07777U);
    put_octal(header.user, entry.user);
    put_octal(header.group, entry.group);
    put_octal(header.size, entry.size);
    put_octal(header.modified,
              static_cast<std::uint64_t>(std::max<std::int64_t>(entry.modified, 0)));
    if (entry.size >= 1ULL << 33) record("size", fmt::format("{}", entry.size));
    if (entry.user >= 1U << 21) record("uid", fmt::format("{}", entry.user));
    if (entry.group >= 1U << 21) record("gid", fmt::format("{}", entry.group));
    header.type = type;
    std::memcpy(header.magic, "ustar", 6);
    std::memcpy(header.version, "00", 2);
    std::memset(header.checksum, ' ', sizeof header.checksum);
    std::string bytes(reinterpret_cast<const char*>(&header), block);
    unsigned sum = 0;
    for (const char c : bytes)
        sum += static_cast<unsigned char>(c);
    const auto text = fmt::format("{:06o}", sum);
    std::memcpy(bytes.data() + offsetof(Header, checksum), text.data(), text.size() + 1);
    return bytes;
}

char type_of(TarEntry::Kind kind)
{
    switch (kind) {
    case TarEntry::Kind::folder:
        return '5';
    case TarEntry::Kind::link:
        return '2';
    default:
        return '0';
    }
}

}  // namespace

std::string tar_padding(std::uint64_t size)
{
    return std::string((block - size % block) % block, '\0');
}

std::string tar_end()
{
    return std::string(2 * block, '\0');
}

std::string tar_header(const TarEntry& entry)
{
    std::string records;
    auto main = block_of(entry, type_of(entry.kind), records);
    if (records.empty()) return main;
    std::string none;
    const TarEntry pax{.path = "pax", .size = records.size()};
    return block_of(pax, 'x', none) + records + tar_padding(records.size()) + main;
}

std::string tar_file(const std::string& path, std::string_view bytes, mode_t mode)
{
    return tar_header({.path = path, .mode = mode, .size = bytes.size()}) + std::string(bytes) +
           tar_padding(bytes.size());
}

}  // namespace ponk::dockerapi

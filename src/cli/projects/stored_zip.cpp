// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/stored_zip.hpp"

#include "base/text.hpp"

#include <cstdint>

namespace ponk::cli {
namespace {

constexpr std::size_t end_size = 22;
constexpr std::size_t directory_size = 46;
constexpr std::size_t local_size = 30;

// Little-endian numbers; 0 past the end, which no check below accepts as a signature.
std::size_t number(std::string_view bytes, std::size_t at, std::size_t width)
{
    std::size_t value = 0;
    if (bytes.size() < at + width) return 0;
    for (std::size_t i = width; i > 0; --i)
        value = value << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
    return value;
}

tl::unexpected<Error> damaged()
{
    return fail(ErrorKind::damaged, "the archive of samples is damaged");
}

bool is_safe(const std::string& name)
{
    if (name.empty() || name[0] == '/' || name.find('\0') != name.npos) return false;
    for (const std::string& part : split(name, '/')) {
        if (part.empty() || part == "." || part == "..") return false;
    }
    return true;
}

}  // namespace

Result<std::vector<ZipEntry>> read_stored_zip(std::string_view archive)
{
    const std::size_t end = archive.rfind("PK\x05\x06");
    if (end == archive.npos || archive.size() - end < end_size) return damaged();
    const std::size_t count = number(archive, end + 10, 2);
    std::size_t at = number(archive, end + 16, 4);
    std::vector<ZipEntry> entries;
    for (std::size_t i = 0; i < count; ++i) {
        if (number(archive, at, 4) != 0x02014b50 || archive.size() - at < directory_size)
            return damaged();
        const std::size_t method = number(archive, at + 10, 2);
        const std::size_t size = number(archive, at + 20, 4);
        const std::size_t name_size = number(archive, at + 28, 2);
        const std::size_t mode = number(archive, at + 38, 4) >> 16U;
        const std::size_t local = number(archive, at + 42, 4);
        ZipEntry entry{.name = std::string(archive.substr(at + directory_size, name_size)),
                       .bytes = {},
                       .executable = (mode & 0100U) != 0};
        at +=
            directory_size + name_size + number(archive, at + 30, 2) + number(archive, at + 32, 2);
        if (number(archive, local, 4) != 0x04034b50 || method != 0 || !is_safe(entry.name))
            return damaged();
        const std::size_t start =
            local + local_size + number(archive, local + 26, 2) + number(archive, local + 28, 2);
        if (start > archive.size() || archive.size() - start < size) return damaged();
        entry.bytes = archive.substr(start, size);
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace ponk::cli

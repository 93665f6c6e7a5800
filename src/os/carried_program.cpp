// SPDX-License-Identifier: Apache-2.0
#include "os/carried_program.hpp"

#include "base/hash.hpp"

#include <sys/utsname.h>
#include <unistd.h>

namespace ponk::os {

namespace {

Path place_of(const Path& folder, std::string_view name, std::string_view bytes)
{
    return folder / fmt::format("{}-{}", name, sha256(bytes).text().substr(0, 16));
}

}  // namespace

std::string own_processor()
{
    utsname name{};
    ::uname(&name);
    return name.machine;
}

std::string_view carried_bytes(const unsigned char* begin, const unsigned char* end)
{
    return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(end - begin)};
}

bool holds(const Path& file, std::string_view bytes)
{
    std::error_code problem;
    // Most of what is damaged has another size.
    if (std::filesystem::file_size(file, problem) != bytes.size() || problem) return false;
    const auto there = read_file(file, bytes.size());
    return there && *there == bytes;
}

bool is_installed(const Path& folder, std::string_view name, std::string_view bytes)
{
    const auto path = place_of(folder, name, bytes);
    return ::access(path.c_str(), X_OK) == 0 && holds(path, bytes);
}

Result<Path> install_program(const Path& folder, std::string_view name, std::string_view bytes)
{
    const auto path = place_of(folder, name, bytes);
    if (::access(path.c_str(), X_OK) == 0 && holds(path, bytes)) return path;
    TRY(make_directories(folder));
    // By rename: a half-written program is never seen, and one in use is never written to.
    TRY(replace_file(path, bytes, 0700));
    return path;
}

}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#include "os/carried_program.hpp"

#include "base/hash.hpp"

#include <sys/utsname.h>
#include <unistd.h>

namespace ponk::os {

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

Result<Path> install_program(const Path& folder, std::string_view name, std::string_view bytes)
{
    const auto path = folder / fmt::format("{}-{}", name, sha256(bytes).text().substr(0, 16));
    if (::access(path.c_str(), X_OK) == 0) return path;
    TRY(make_directories(folder));
    // By rename: a half-written program is never seen, and one in use is never written to.
    TRY(replace_file(path, bytes, 0700));
    return path;
}

}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#include "cli/client/home.hpp"

#include "os/identity.hpp"

#include <cstdlib>

namespace ponk::cli {
namespace {

Result<os::Path> absolute(const os::Path& path)
{
    if (path.is_absolute()) return path.lexically_normal();
    std::error_code problem;
    const os::Path here = std::filesystem::current_path(problem);
    if (problem) return fail_errno(problem.value(), "find the current folder");
    return (here / path).lexically_normal();
}

}  // namespace

Result<os::Path> ponk_home()
{
    if (const char* home = ::getenv("PONK_HOME"); home != nullptr && *home != '\0') {
        return absolute(home);
    }
    // The specification of XDG: a relative value is to be ignored.
    if (const char* data = ::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/') {
        return os::Path(data) / "ponk";
    }
    const os::Path home = os::home_directory();
    if (home.empty() || !home.is_absolute()) {
        return tl::unexpected(Error(ErrorKind::unavailable,
                                    "you have no home folder",
                                    "Set PONK_HOME to a folder for ponk's files."));
    }
    return home / ".local/share/ponk";
}

}  // namespace ponk::cli

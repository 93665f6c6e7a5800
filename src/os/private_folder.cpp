// SPDX-License-Identifier: Apache-2.0
#include "os/private_folder.hpp"

#include "os/identity.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::os {

namespace {

bool is_trusted(uid_t owner)
{
    return owner == ::geteuid() || owner == 0;
}

// Debian and others give each user a group of their own, and some make it the default to let it
// write.
bool is_own_group(gid_t group)
{
    std::array<char, 16384> buffer{};
    passwd user{};
    passwd* found_user = nullptr;
    if (::getpwuid_r(::geteuid(), &user, buffer.data(), buffer.size(), &found_user) != 0 ||
        !found_user || user.pw_gid != group)
        return false;
    const std::string name = user.pw_name;
    ::group entry{};
    ::group* found = nullptr;
    if (::getgrgid_r(group, &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return false;
    if (name != entry.gr_name) return false;
    for (char** member = entry.gr_mem; *member != nullptr; ++member) {
        if (name != *member) return false;
    }
    return true;
}

tl::unexpected<Error> refuse(const std::string& what, const std::string& command)
{
    return tl::unexpected(Error(ErrorKind::conflict,
                                what,
                                "Check its content, then make it private with \"" + command +
                                    "\"; or set PONK_HOME to a folder of your own."));
}

tl::unexpected<Error> foreign(const Path& folder, uid_t owner)
{
    return refuse(
        fmt::format("{} belongs to another user (uid {}), who may have changed its content",
                    in_quotes(folder),
                    owner),
        fmt::format("chown -R {} {}", user_name(), in_quotes(folder)));
}

}  // namespace

Result<> check_private(const Path& folder)
{
    struct stat info {};
    if (::lstat(folder.c_str(), &info) == 0 && S_ISLNK(info.st_mode) && !is_trusted(info.st_uid))
        return foreign(folder, info.st_uid);
    if (::stat(folder.c_str(), &info) != 0) return {};
    if (!is_trusted(info.st_uid)) return foreign(folder, info.st_uid);
    const char* who = nullptr;
    if ((info.st_mode & S_IWOTH) != 0) who = "every user";
    if (!who && (info.st_mode & S_IWGRP) != 0 && !is_own_group(info.st_gid)) who = "its group";
    if (!who) return {};
    return refuse(fmt::format("{} can be written to by {} (mode {:04o})",
                              in_quotes(folder),
                              who,
                              info.st_mode & 07777U),
                  fmt::format("chmod go-w {}", in_quotes(folder)));
}

}  // namespace ponk::os

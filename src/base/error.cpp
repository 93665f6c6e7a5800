// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <system_error>

namespace ponk {

namespace {

constexpr std::array<std::pair<ErrorKind, const char*>, 9> names{{
    {ErrorKind::invalid_argument, "invalid_argument"},
    {ErrorKind::not_found, "not_found"},
    {ErrorKind::conflict, "conflict"},
    {ErrorKind::unavailable, "unavailable"},
    {ErrorKind::unreachable, "unreachable"},
    {ErrorKind::timeout, "timeout"},
    {ErrorKind::cancelled, "cancelled"},
    {ErrorKind::damaged, "damaged"},
    {ErrorKind::internal, "internal"},
}};

ErrorKind kind_of(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
        return ErrorKind::not_found;
    case EEXIST:
        return ErrorKind::conflict;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ECONNREFUSED:
        return ErrorKind::unavailable;
    case EINVAL:
    case ELOOP:
    case ENAMETOOLONG:
        return ErrorKind::invalid_argument;
    case ETIMEDOUT:
        return ErrorKind::timeout;
    default:
        return ErrorKind::internal;
    }
}

std::string hint_for(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
        return "The disk is full: free some space, then try again.";
    case EDQUOT:
        return "Your disk quota is used up: free some space, then try again.";
    case EROFS:
        return "The file system is read-only: set PONK_HOME to a writable folder.";
    case EMFILE:
        return "Too many open files: raise the limit with 'ulimit -n'.";
    default:
        return {};
    }
}

}  // namespace

const char* to_string(ErrorKind kind)
{
    for (const auto& [value, name] : names) {
        if (value == kind) return name;
    }
    return "internal";
}

ErrorKind error_kind_from(std::string_view name)
{
    for (const auto& [value, text] : names) {
        if (name == text) return value;
    }
    return ErrorKind::internal;
}

Error system_error(int errno_value, const std::string& what)
{
    return {kind_of(errno_value),
            what + ": " + std::generic_category().message(errno_value),
            hint_for(errno_value)};
}

}  // namespace ponk

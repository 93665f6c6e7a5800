// SPDX-License-Identifier: Apache-2.0
#include "os/identity.hpp"

#include "base/text.hpp"

#include <array>
#include <cstdlib>
#include <poll.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ponk::os {

std::string boot_id()
{
    // No process outlives the boot it was born in.
    static const std::string id = [] {
        const auto text = read_file("/proc/sys/kernel/random/boot_id");
        return text ? std::string(trim(*text)) : std::string();
    }();
    return id;
}

std::optional<ProcessIdentity> identify(pid_t pid)
{
    const auto text = read_file(fmt::format("/proc/{}/stat", pid));
    if (!text) return std::nullopt;
    // The name in parentheses may hold anything, so count from the last one.
    const auto end_of_name = text->rfind(')');
    if (end_of_name == std::string::npos) return std::nullopt;
    const auto fields = split(std::string_view(*text).substr(end_of_name + 2), ' ');
    if (fields.size() < 20) return std::nullopt;
    const auto ticks = parse_integer(fields[19]);
    if (!ticks) return std::nullopt;
    return ProcessIdentity{pid, static_cast<std::uint64_t>(*ticks), boot_id()};
}

std::optional<Fd> open_process(const ProcessIdentity& process)
{
    // First the descriptor, then the proof that it is the right process: no gap for a reused pid.
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
    if (!pidfd) return std::nullopt;
    const auto now = identify(process.pid);
    if (!now || !(*now == process)) return std::nullopt;
    return pidfd;
}

bool is_alive(const ProcessIdentity& process)
{
    const auto pidfd = open_process(process);
    if (!pidfd) return false;
    pollfd ended{pidfd->get(), POLLIN, 0};
    return ::poll(&ended, 1, 0) == 0;
}

namespace {

std::optional<std::string> find_user_name(uid_t user)
{
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
        return std::nullopt;
    return found->pw_name;
}

}  // namespace

std::string user_name()
{
    if (auto name = find_user_name(::getuid())) return std::move(*name);
    const char* user = ::getenv("USER");
    return user ? user : fmt::format("{}", ::getuid());
}

std::string user_name(uid_t user)
{
    return find_user_name(user).value_or(fmt::format("{}", user));
}

Path home_directory()
{
    if (const char* home = ::getenv("HOME"); home && *home) return home;
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found)
        return found->pw_dir;
    return "/";
}

std::string host_name()
{
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
}

}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#include "agent/home.hpp"

#include "executor/run_directory/control_seal.hpp"
#include "executor/run_directory/home_format.hpp"
#include "os/file_lock.hpp"
#include "os/private_folder.hpp"

#include <sys/statvfs.h>
#include <sys/vfs.h>

namespace ponk::agent {

namespace {

constexpr const char* advice = "Write 'scratch: FOLDER' in the target's .compute file, with a "
                               "folder on a local disk of that machine.";

bool is_on_network(const Path& folder)
{
    struct statfs info {};
    if (::statfs(folder.c_str(), &info) != 0) return false;
    constexpr long nfs = 0x6969;
    constexpr long smb = 0x517b;
    constexpr long smb2 = static_cast<long>(0xfe534d42);
    constexpr long cifs = static_cast<long>(0xff534d42);
    const auto type = info.f_type;
    return type == nfs || type == smb || type == smb2 || type == cifs;
}

Result<> upgrade_format(const Path& home, const std::stop_token& stop)
{
    const auto lock = TRY(os::FileLock::take(
        home / "format.lock", os::FileLock::Kind::exclusive, after(std::chrono::minutes(2)), stop));
    TRY(TRY(executor::HomeFormat::look(home)).upgrade());
    return {};
}

}  // namespace

Result<> open_home(const Path& home)
{
    const auto made = os::make_directories(home);
    if (!made) return tl::unexpected(made.error().with_hint(advice));
    TRY(os::check_private(home));
    if (is_on_network(home)) {
        return tl::unexpected(Error(
            ErrorKind::conflict, os::in_quotes(home) + " is on a network file system", advice));
    }
    struct statvfs info {};
    if (::statvfs(home.c_str(), &info) == 0) {
        if ((info.f_flag & ST_RDONLY) != 0)
            return tl::unexpected(
                Error(ErrorKind::conflict, os::in_quotes(home) + " is not writable", advice));
        if ((info.f_flag & ST_NOEXEC) != 0)
            return tl::unexpected(Error(ErrorKind::conflict,
                                        "programs cannot be executed from " + os::in_quotes(home) +
                                            " (mounted with noexec)",
                                        advice));
    }
    return {};
}

Result<> open_format(const Path& home, const std::stop_token& stop)
{
    // None of it says anything about a run: whoever asked for one asks again.
    return upgrade_format(home, stop).map_error([](const Error& error) {
        return error.kind() == ErrorKind::cancelled ? error : error.of_kind(ErrorKind::unreachable);
    });
}

Result<HomeIdentity> HomeIdentity::of(const Path& home)
{
    const auto file = home / "run.key";
    const auto keys = TRY(executor::RunKeys::load(file));
    return HomeIdentity(home, TRY(os::read_file(file, 4096)), keys.of("home"));
}

Result<> HomeIdentity::check() const
{
    const auto now = os::read_file(home_ / "run.key", 4096);
    if (now && *now == key_) return {};
    return fail(ErrorKind::unreachable,
                "ponk's folder {} on that machine is missing or was replaced: check that its disk "
                "is mounted",
                os::in_quotes(home_));
}

}  // namespace ponk::agent

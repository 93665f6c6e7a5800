// SPDX-License-Identifier: Apache-2.0
#include "cli/hosts/host_lock.hpp"

namespace ponk::cli {

Result<os::FileLock> lock_host(Context& context, const ssh::Access& access)
{
    // Not in the host's folder, which goes with the last target.
    const ssh::HostFolder folder(access.home, access.address);
    const auto file = access.home / "locks" / ("ssh-" + folder.id());
    TRY(os::make_directories(file.parent_path(), 0700));
    using Kind = os::FileLock::Kind;
    if (auto lock = TRY(os::FileLock::try_take(file, Kind::exclusive))) return std::move(*lock);
    context.note("waiting for another command that is attaching or detaching '{}'",
                 access.address.text());
    auto lock = os::FileLock::take(file, Kind::exclusive, after(std::chrono::minutes(5)), {});
    if (lock || lock.error().kind() != ErrorKind::timeout) return lock;
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("another command is attaching or detaching '{}' and does not finish",
                          access.address.text()),
              "Check whether it waits for an answer on another terminal."));
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "snapshot/lease.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "os/directory.hpp"

#include <unistd.h>

namespace ponk::snapshot {

namespace {

using std::chrono::seconds;

os::Path leases_path(const os::Path& root)
{
    return root / "leases";
}

}  // namespace

os::Path lock_path(const os::Path& root)
{
    return root / "lock";
}

Result<Lease> Lease::take(const os::Path& root, std::string_view purpose, std::stop_token stop)
{
    // The shared lock makes sure that no collector reads the leases while this one appears.
    const auto gate = TRY(
        os::FileLock::take(lock_path(root), os::FileLock::Kind::shared, after(seconds(30)), stop));
    auto path = leases_path(root) / (std::to_string(::getpid()) + "-" + to_hex(random_bytes(6)));
    auto lock = TRY(os::FileLock::try_take(path, os::FileLock::Kind::exclusive));
    if (!lock) return fail(ErrorKind::conflict, "lease {} is taken", os::in_quotes(path));
    const auto text = fmt::format("{} of process {} since {}\n",
                                  printable(purpose),
                                  ::getpid(),
                                  utc_text(wall_milliseconds()));
    TRY(os::write_all(lock->fd(), text));
    return Lease(std::move(*lock), std::move(path));
}

Lease::~Lease()
{
    if (!path_.empty()) ::unlink(path_.c_str());
}

Result<std::vector<std::string>> living_leases(const os::Path& root)
{
    std::vector<std::string> living;
    for (const auto& entry : TRY(os::list_directory(leases_path(root)))) {
        const auto path = leases_path(root) / entry.name;
        const auto text = TRY(os::read_file_if_any(path, 4096));
        if (!text) continue;
        const auto lock = TRY(os::FileLock::try_take(path, os::FileLock::Kind::exclusive));
        if (lock) {
            ::unlink(path.c_str());  // its holder died
        } else {
            living.emplace_back(text->empty() ? entry.name : std::string(trim(*text)));
        }
    }
    return living;
}

}  // namespace ponk::snapshot

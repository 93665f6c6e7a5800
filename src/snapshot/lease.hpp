// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "os/file.hpp"
#include "os/file_lock.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace ponk::snapshot {

// Says "somebody is storing objects that nothing refers to yet". While a lease lives, garbage
// collection picks no victims. Hold it until the new snapshot's id is recorded where the
// collector's caller will find it. It ends with the object or with the process, whichever is first.
class Lease {
public:
    // Waits for a collection that is choosing victims (a short time), not for other leases.
    static Result<Lease>
    take(const os::Path& root, std::string_view purpose, std::stop_token stop = {});
    ~Lease();
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;

private:
    Lease(os::FileLock lock, os::Path path) : lock_(std::move(lock)), path_(std::move(path)) {}
    os::FileLock lock_;
    os::Path path_;
};

// Who holds leases below `root`, as text for people. Removes the files of holders that died.
// The caller has the collector's exclusive lock.
Result<std::vector<std::string>> living_leases(const os::Path& root);

os::Path lock_path(const os::Path& root);

}  // namespace ponk::snapshot

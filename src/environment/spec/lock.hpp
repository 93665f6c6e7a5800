// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "environment/spec/package_request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ponk::environment {

struct LockedPackage {
    enum class Manager { conda, pip };
    Manager manager = Manager::pip;
    std::string name;
    std::string version;
    std::string build;                // conda's
    std::string source;               // index, address or "file:NAME"; without secrets
    bool direct = false;              // named by its address or file, not found on an index
    std::vector<std::string> sha256;  // any of them (an index has several files of one version)
    std::string md5;
};

// Everything that an environment holds, exactly: what a later build repeats.
// docs/design/environments.md describes the text.
struct Lock {
    std::string platform;
    std::string python;                   // "3.11.2"
    std::vector<LockedPackage> packages;  // by manager, then name
};

// Whether a list may hold it: one word of an installer's alphabet for each of its parts.
bool is_valid(const LockedPackage& package);
// The order of a lock's packages.
void sort_packages(Lock& lock);

// `damaged` for anything but a lock of a format that is known.
Result<Lock> parse_lock(std::string_view text);
// One text for one lock: digests compare.
std::string to_text(const Lock& lock);
Digest digest_of(const Lock& lock);

// Lines with which pip installs exactly the lock's part of pip, with checksums. `packages` give the
// options and, where the lock hides a secret or names a file, the address or file itself.
Result<std::vector<std::string>> exact_lines(const Lock& lock, const PackageRequest& packages);
// conda's explicit list ("@EXPLICIT", then addresses with checksums).
Result<std::string> explicit_list(const Lock& lock, const std::vector<std::string>& channels);

}  // namespace ponk::environment

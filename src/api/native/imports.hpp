// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "importer/import.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ponk::api {

// Imports that clients are in the middle of. The client asks for each step, so that one who goes
// away ends it. Safe for several threads.
class Imports {
public:
    struct Session {
        std::mutex stepping;  // held by the request that works on it; nobody waits for it
        std::unique_ptr<importer::Import> import;
        std::atomic<std::int64_t> used = 0;  // boot_milliseconds
    };

    // `unavailable` when there are too many.
    Result<std::string> add(std::unique_ptr<importer::Import> import);
    // `not_found` when it ended, or nobody asked for it for long.
    Result<std::shared_ptr<Session>> get(const std::string& id);
    void remove(const std::string& id);

private:
    Synced<std::map<std::string, std::shared_ptr<Session>>> sessions_;
};

}  // namespace ponk::api

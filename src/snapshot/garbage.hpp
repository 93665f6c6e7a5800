// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "snapshot/object_store.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::snapshot {

struct GarbageOptions {
    // Asked for the manifests in use after the collector has its lock: whatever was recorded before
    // then is seen, whatever is recorded later has a lease.
    std::function<Result<std::vector<Digest>>()> live;
    std::int64_t now_ms = 0;  // wall clock, given by the caller
    std::chrono::hours grace{14 * 24};
    std::chrono::hours trash_time{24};
    std::chrono::milliseconds lock_patience{2000};
    std::stop_token stop;
};

// A live manifest of which nobody knows what it names.
struct UnreadableManifest {
    Digest id;
    std::string problem;
};

struct GarbageReport {
    std::uint64_t live_objects = 0;
    std::uint64_t trashed_objects = 0;
    std::uint64_t trashed_bytes = 0;
    std::uint64_t deleted_objects = 0;  // that had been in the trash long enough
    // Nothing was picked because of these: living leases, or a lock that was not free in time.
    std::vector<std::string> deferred_by;
    std::vector<UnreadableManifest> unreadable;
    std::uint64_t kept_objects = 0;  // that one of these may name
};

// One pass: objects that no live manifest names, older than the grace time, while no lease lives,
// go to the trash; what has lain there for the trash time is deleted. While a live manifest cannot
// be read, what was in the store when that was seen first stays, and so does what was stored again
// since (docs/design/snapshot.md).
Result<GarbageReport> collect_garbage(const ObjectStore& store, const GarbageOptions& options);

// Manifests that the last pass could not read.
Result<std::vector<Digest>> noted_unreadable(const ObjectStore& store);

struct ScrubReport {
    std::uint64_t objects = 0;
    std::uint64_t bytes = 0;
    std::vector<Digest> damaged;  // now in quarantine
};
// Reads and verifies every object.
Result<ScrubReport> scrub(const ObjectStore& store, std::stop_token stop = {});

}  // namespace ponk::snapshot

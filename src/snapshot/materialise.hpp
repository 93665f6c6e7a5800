// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"
#include "os/file.hpp"
#include "snapshot/manifest.hpp"
#include "snapshot/object_store.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace ponk::snapshot {

struct MaterialiseOptions {
    // When an object is damaged or missing and this folder still has the file with the very same
    // bytes, it is stored again from there. Empty: such an object is an error.
    os::Path heal_from;
    std::stop_token stop;
    unsigned threads = 0;  // 0: as many as there are processors, at most 8
    // Whose permissions the files get; absent: this process's own.
    std::optional<mode_t> umask;
};

struct MaterialiseReport {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::vector<std::string> healed;   // sentences about contents that were stored again
    std::vector<std::string> outside;  // links that point outside; who made the snapshot was told
};

// Recreates a snapshot's tree in `destination`, which must be absent or an empty folder. Every byte
// is verified. Files are the caller's own (reflink or copy, never hard links into the store). On
// failure what was made is removed again.
Result<MaterialiseReport> materialise(const ObjectStore& store,
                                      const Digest& id,
                                      const os::Path& destination,
                                      const MaterialiseOptions& options = {});

// Up to `length` bytes of a file of a snapshot from `offset`; fewer at its end. Verified.
Result<std::string> read_file(const ObjectStore& store,
                              const Manifest& manifest,
                              std::string_view path,
                              std::uint64_t offset,
                              std::size_t length);
// The whole file piece by piece, each verified before it is handed on (an object larger than
// `chunked_above`, a hard-linked output, is verified as a whole first).
Result<> stream_file(const ObjectStore& store,
                     const Manifest& manifest,
                     std::string_view path,
                     const std::function<Result<>(std::string_view)>& sink);

}  // namespace ponk::snapshot

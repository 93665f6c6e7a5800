// SPDX-License-Identifier: Apache-2.0
#include "snapshot/same_contents.hpp"

#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/tree.hpp"

#include <algorithm>

namespace ponk::snapshot {

namespace {

Result<Digest> hash_of(int file, std::uint64_t from, std::uint64_t size)
{
    Sha256 hash;
    while (size > 0) {
        const auto bytes = TRY(os::read_at(file, from, std::min<std::uint64_t>(size, 1 << 20)));
        if (bytes.empty()) break;
        hash.update(bytes);
        from += bytes.size();
        size -= bytes.size();
    }
    return hash.finish();
}

}  // namespace

Result<bool> has_contents(int file, const ManifestEntry& entry)
{
    os::FileStatus status;
    if (!entry.is_file() || os::status_of(file, status) != 0 || entry.size != status.size)
        return false;
    if (entry.chunks.empty()) return TRY(hash_of(file, 0, entry.size)) == entry.digest;
    std::uint64_t at = 0;
    for (const auto& chunk : entry.chunks) {
        if (!(TRY(hash_of(file, at, chunk.size)) == chunk.digest)) return false;
        at += chunk.size;
    }
    return true;
}

}  // namespace ponk::snapshot

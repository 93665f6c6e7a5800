// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/pieces.hpp"

#include <algorithm>

namespace ponk::snapshot {

namespace {

Result<const ManifestEntry*> find_file(const Manifest& manifest, std::string_view path)
{
    const auto* entry = manifest.find(path);
    if (!entry) return fail(ErrorKind::not_found, "the snapshot has no '{}'", printable(path));
    if (!entry->is_file())
        return fail(ErrorKind::invalid_argument, "'{}' is not a file", printable(path));
    return entry;
}

Result<std::string>
read_part(const ObjectStore& store, const Chunk& chunk, std::uint64_t offset, std::size_t length)
{
    if (is_hole(chunk.digest, chunk.size)) return std::string(length, '\0');
    return store.read_range(chunk.digest, offset, length);
}

}  // namespace

Result<std::string> read_file(const ObjectStore& store,
                              const Manifest& manifest,
                              std::string_view path,
                              std::uint64_t offset,
                              std::size_t length)
{
    const auto* entry = TRY(find_file(manifest, path));
    if (offset >= entry->size || length == 0) return std::string();
    length = static_cast<std::size_t>(std::min<std::uint64_t>(length, entry->size - offset));
    const auto doing = while_doing("read '{}'", printable(path));
    if (entry->chunks.empty())
        return store.read_range(entry->digest, offset, length).map_error(doing);
    std::string out;
    std::uint64_t start = 0;
    for (const auto& chunk : entry->chunks) {
        const auto end = start + chunk.size;
        const auto at = offset + out.size();
        if (end > at) {
            const auto wanted = std::min<std::uint64_t>(length - out.size(), end - at);
            out += TRY(read_part(store, chunk, at - start, wanted).map_error(doing));
            if (out.size() != at + wanted - offset)
                return fail(ErrorKind::damaged, "'{}' ends early", printable(path));
        }
        start = end;
        if (out.size() >= length) break;
    }
    return out;
}

Result<> stream_file(const ObjectStore& store,
                     const Manifest& manifest,
                     std::string_view path,
                     const std::function<Result<>(std::string_view)>& sink)
{
    const auto* entry = TRY(find_file(manifest, path));
    const auto doing = while_doing("read '{}'", printable(path));
    for (const auto& chunk : entry->chunks) {
        if (chunk.size > chunked_above)
            return fail(ErrorKind::damaged, "a chunk has {}", byte_size_text(chunk.size));
        TRY(sink(TRY(read_part(store, chunk, 0, chunk.size).map_error(doing))));
    }
    if (!entry->chunks.empty()) return {};
    for (std::uint64_t offset = 0; offset < entry->size;) {
        // The first call verifies the object as a whole; the others find that done.
        const auto piece =
            TRY(store.read_range(entry->digest, offset, chunk_size).map_error(doing));
        if (piece.empty()) return fail(ErrorKind::damaged, "'{}' ends early", printable(path));
        TRY(sink(piece));
        offset += piece.size();
    }
    return {};
}

}  // namespace ponk::snapshot

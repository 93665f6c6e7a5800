// SPDX-License-Identifier: Apache-2.0
#include "snapshot/pieces.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "snapshot/object_store.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace ponk::snapshot {

bool is_hole(const Digest& digest, std::uint64_t size)
{
    static const Digest zeros = sha256(std::string(static_cast<std::size_t>(chunk_size), '\0'));
    return size == chunk_size && digest == zeros;
}

std::vector<Piece> pieces_of(const Manifest& manifest)
{
    std::vector<Piece> pieces;
    for (const auto& entry : manifest.entries()) {
        if (!entry.is_file()) continue;
        std::uint64_t offset = 0;
        for (const auto& chunk : entry.chunks) {
            pieces.push_back({&entry, offset, chunk.size, chunk.digest});
            offset += chunk.size;
        }
        if (entry.chunks.empty() && entry.size > 0)
            pieces.push_back({&entry, 0, entry.size, entry.digest});
    }
    return pieces;
}

Result<std::string> read_piece(int root, const Piece& piece)
{
    const auto changed = [&piece] {
        return fail(
            ErrorKind::conflict, "'{}' changed while it was read", printable(piece.entry->path));
    };
    const auto file =
        os::open_beneath(root, piece.entry->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (!file && file.error().kind() == ErrorKind::not_found) return changed();
    if (!file) return tl::unexpected(file.error());
    auto bytes = TRY(os::read_at(file->get(), piece.offset, piece.size));
    if (bytes.size() != piece.size || !(sha256(bytes) == piece.digest)) return changed();
    return bytes;
}

Result<> write_piece(int root, const Piece& piece, std::string_view bytes)
{
    if (bytes.size() != piece.size || !(sha256(bytes) == piece.digest))
        return fail(
            ErrorKind::damaged, "'{}' arrived with other bytes", printable(piece.entry->path));
    const auto file =
        TRY(os::open_beneath(root, piece.entry->path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
    if (piece.is_hole()) return {};
    for (auto at = piece.offset; !bytes.empty();) {
        const auto put = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_errno(errno, "write '{}'", printable(piece.entry->path));
        bytes.remove_prefix(static_cast<std::size_t>(put));
        at += static_cast<std::uint64_t>(put);
    }
    return {};
}

}  // namespace ponk::snapshot

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "snapshot/manifest.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// A tree that goes from a folder to a folder elsewhere, without a store at either end.
namespace ponk::snapshot {

// Of a chunk: nothing but zeros, which need not be read to be known.
bool is_hole(const Digest& digest, std::uint64_t size);

// What travels at once: a file, or a chunk of a large one.
struct Piece {
    const ManifestEntry* entry = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    Digest digest;

    // Nothing need be written for it.
    [[nodiscard]] bool is_hole() const { return snapshot::is_hole(digest, size); }
};

// In the order of the manifest, which outlives them. Empty files have none.
std::vector<Piece> pieces_of(const Manifest& manifest);

// The bytes from the folder `root`: `conflict` when they are others than the manifest says. No link
// is followed.
Result<std::string> read_piece(int root, const Piece& piece);
// Into the folder `root`, which has the piece's folder; the file is made where it is missing.
// `damaged` when `bytes` are not the piece.
Result<> write_piece(int root, const Piece& piece, std::string_view bytes);

}  // namespace ponk::snapshot

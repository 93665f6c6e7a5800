// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/hash.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::snapshot {

enum class EntryKind : std::uint8_t { file, executable, link, folder };

// A part of a file that is an object of its own.
struct Chunk {
    std::uint64_t size = 0;
    Digest digest;

    friend bool operator==(const Chunk&, const Chunk&) = default;
};

// One name in a tree. Paths are bytes, relative, with '/' between parts and none at the end.
struct ManifestEntry {
    EntryKind kind = EntryKind::file;
    std::string path;
    std::uint64_t size = 0;     // of a file
    Digest digest;              // of a file that is one object
    std::vector<Chunk> chunks;  // of a file that is several, in order
    std::string target;         // of a link, as it was read

    [[nodiscard]] bool is_file() const noexcept
    {
        return kind == EntryKind::file || kind == EntryKind::executable;
    }
    friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

// A whole tree: every folder, file and link. The text form (docs/design/snapshot.md) is canonical,
// so equal trees have equal texts, and the SHA-256 of the text is the snapshot's id.
class Manifest {
public:
    // Sorts the entries. `invalid_argument` when a name is twice there or has no folder above it.
    static Result<Manifest> from_entries(std::vector<ManifestEntry> entries);
    // Refuses whatever is not canonical; `damaged` names the line.
    static Result<Manifest> parse(std::string_view text);

    [[nodiscard]] std::string text() const;
    [[nodiscard]] const std::vector<ManifestEntry>& entries() const noexcept { return entries_; }
    [[nodiscard]] const ManifestEntry* find(std::string_view path) const;
    // Everything below a folder of it, at any depth; they stand together. An empty path is the
    // root; none when there is no such folder.
    [[nodiscard]] std::span<const ManifestEntry> below(std::string_view folder) const;
    [[nodiscard]] std::uint64_t file_count() const;
    [[nodiscard]] std::uint64_t byte_count() const;

private:
    explicit Manifest(std::vector<ManifestEntry> entries) : entries_(std::move(entries)) {}
    std::vector<ManifestEntry> entries_;
};

// The pieces of the text form, for the writer that never holds ManifestEntry values.
void append_manifest_header(std::string& text);
void append_folder(std::string& text, std::string_view path);
void append_file(std::string& text,
                 EntryKind kind,
                 std::uint64_t size,
                 const Digest& digest,
                 std::string_view path);
void append_chunked_file(std::string& text,
                         EntryKind kind,
                         std::uint64_t size,
                         const std::vector<Chunk>& chunks,
                         std::string_view path);
void append_link(std::string& text, std::string_view path, std::string_view target);

// The order of entries: by bytes, a folder as if its path ended in '/', so that what is below it
// follows it directly. Negative, zero or positive.
int compare_in_manifest(std::string_view left,
                        EntryKind left_kind,
                        std::string_view right,
                        EntryKind right_kind);

}  // namespace ponk::snapshot

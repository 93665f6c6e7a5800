// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "engine/files/run_files.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The files of a project's folder, for somebody who looks at them and edits them. Paths are
// relative to the folder and never leave it: "..", links anywhere on the way, and whatever is
// neither a plain file nor a folder are refused, by the kernel where it can. Nothing of a project
// is started. Any thread may call.
namespace ponk::engine {

struct FolderEntry {
    enum class Kind { file, folder, link, other };
    std::string name;
    Kind kind = Kind::other;
    std::uint64_t size = 0;     // of a file
    std::int64_t changed = 0;   // wall-clock milliseconds
    std::string leads_to = {};  // of a link, as it is written there
};
const char* to_string(FolderEntry::Kind kind);

struct FolderList {
    std::vector<FolderEntry> entries;  // sorted by bytes
    std::size_t left_out = 0;          // behind the first 10,000
};

// Editors get and send texts up to this size.
inline constexpr std::uint64_t longest_text = std::uint64_t{4} << 20;

// `path` "" is the project itself.
Result<FolderList> list_folder(const Path& project, const Path& path);

Result<OpenFile> open_project_file(const Path& project, const Path& path);

struct FileText {
    std::string text;
    std::optional<Digest> read;  // what the file had when the text was made; none: it is a new file
    enum class LineEnds { as_given, as_before } line_ends = LineEnds::as_before;
};
struct StoredText {
    Digest digest;
    std::uint64_t size = 0;
};
// Replaces the file, or makes it: it has all of the text or is as it was. `conflict` when it is
// another one by now; then nothing was changed. Mode and, where that is allowed, owner stay as they
// were. Files below ".git" are refused: git would act on them.
Result<StoredText> store_text(const Path& project, const Path& path, const FileText& text);

}  // namespace ponk::engine

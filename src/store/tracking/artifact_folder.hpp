// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/artifact_path.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"
#include "os/unnamed_file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::store {

using model::ArtifactPath;

// A file being received: nobody sees it until it is published, and nothing is left of one that
// never is. Not shared between threads.
class ArtifactUpload {
public:
    // `unavailable` when there is no room.
    Result<> write(std::string_view bytes);
    // Durable and under its name, at once and whole; a file that was there is replaced, folders on
    // the way are made. `invalid_argument` where a folder has that name or a file is on the
    // way.
    Result<> publish(const ArtifactPath& path);

private:
    friend class ArtifactFolder;
    ArtifactUpload(os::Fd root, os::Fd incoming, os::UnnamedFile file);
    [[nodiscard]] Result<> rename_to(const ArtifactPath& path, const std::string& temporary) const;

    os::Fd root_;
    os::Fd incoming_;
    os::UnnamedFile file_;
    std::uint64_t unsynced_ = 0;
};

// The files that clients of the tracking API send, docs/design/artifacts.md: a tree of plain files
// and folders. Every path is walked below the opened root by the kernel's rules, and links, which
// only somebody else can have made there, lead nowhere. Any thread may call.
class ArtifactFolder {
public:
    struct Entry {
        enum class Kind { file, folder } kind = Kind::file;
        std::string name;
        std::uint64_t size = 0;
    };
    struct File {
        os::Fd fd;
        std::uint64_t size = 0;
        std::int64_t changed = 0;  // wall-clock milliseconds
        std::string version;       // differs whenever the bytes may
    };
    // What a name leads to.
    struct Found {
        // blocked: a part of the way is a file, so nothing can be there.
        enum class Kind { absent, blocked, folder, file } kind = Kind::absent;
        File file;
    };

    // The folder need not be there before something is written.
    explicit ArtifactFolder(os::Path root) : root_(std::move(root)) {}

    // `unavailable` at once when `expected` bytes have no room.
    [[nodiscard]] Result<ArtifactUpload> receive(std::optional<std::uint64_t> expected) const;
    [[nodiscard]] Result<Found> find(const ArtifactPath& path) const;
    // Sorted by bytes; nullopt when there is no such folder.
    [[nodiscard]] Result<std::optional<std::vector<Entry>>> list(const ArtifactPath& path) const;
    // Every file below a folder, with its path from there; folders in order.
    using OnFile = std::function<void(const std::string& path, std::uint64_t size)>;
    [[nodiscard]] Result<> walk(const ArtifactPath& path, const OnFile& on_file) const;
    // A file, or a folder with all that it holds, which disappears at once. Absent is fine.
    [[nodiscard]] Result<> remove(const ArtifactPath& path) const;
    // Removes what killed writers left. Nobody may be writing.
    [[nodiscard]] Result<> sweep() const;

private:
    os::Path root_;
};

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/file_lock.hpp"
#include "snapshot/pieces.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::agent {

using os::Path;

// What is in an input, and what of it travels at once.
struct InputList {
    explicit InputList(snapshot::Manifest all)
        : manifest(std::move(all)), pieces(snapshot::pieces_of(manifest))
    {
    }
    InputList(const InputList&) = delete;
    InputList& operator=(const InputList&) = delete;

    snapshot::Manifest manifest;
    std::vector<snapshot::Piece> pieces;
};

// Data that runs of this machine read and that no snapshot has: one folder per content, below
// HOME/inputs, for all runs (docs/design/agent-protocol.md). A value; any process may call.
class InputTree {
public:
    InputTree(const Path& home, const Digest& id);

    // Where runs read it, once it is whole.
    [[nodiscard]] Path tree() const { return folder_ / "tree"; }

    // One call at a time makes it whole or takes it away.
    Result<os::FileLock> lock(std::stop_token stop) const;
    [[nodiscard]] Result<std::optional<os::FileLock>> try_lock() const;

    // Null before `begin`.
    [[nodiscard]] Result<std::shared_ptr<const InputList>> find_list() const;
    Result<> begin(const snapshot::Manifest& manifest) const;

    // It is here and unchanged. That is asked of its times, not its contents.
    [[nodiscard]] bool is_whole(const InputList& list) const;
    // It was, when a run last asked for it.
    [[nodiscard]] bool is_marked_whole() const;
    // One byte for each piece, '1' for those that are here. What is in doubt, after a reboot or a
    // change by somebody, is read again, and what does not belong there is removed.
    Result<std::string> arrived(const InputList& list, const std::stop_token& stop) const;
    // Pieces and their bytes, which may be compressed as an object is.
    using Parts = std::vector<std::pair<std::size_t, std::string_view>>;
    Result<> put(const InputList& list, const Parts& parts) const;
    // All pieces are here: from now on the tree is read-only.
    Result<> finish(const InputList& list) const;

    // A run uses it now.
    void touch() const;
    // When that was last said, or something came; wall clock.
    [[nodiscard]] std::int64_t used_ms() const;
    Result<> remove() const;

    // All that are below HOME/inputs.
    static std::vector<Digest> all(const Path& home);

private:
    Result<> clear_up(const snapshot::Manifest& manifest) const;

    Path home_;
    std::string name_;
    Path folder_;
};

}  // namespace ponk::agent

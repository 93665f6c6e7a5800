// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hash.hpp"
#include "base/keyed_hash.hpp"
#include "base/synced.hpp"
#include "os/tree.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ponk::snapshot {

// What is known of the objects that were read in parts of late: which of them were verified, and
// what some of them expand to. A version of an object is its file as the kernel describes it. Both
// are bounded: what was forgotten is found out again. Any thread may call.
class RecentContents {
public:
    // The sharers are those who read parts of it at this moment.
    using Content = std::shared_ptr<const std::string>;

    [[nodiscard]] bool is_verified(const Digest& digest, const os::FileStatus& version) const;
    void note_verified(const Digest& digest, const os::FileStatus& version);

    // Null when it is not kept, or of another version.
    [[nodiscard]] Content find(const Digest& digest, const os::FileStatus& version) const;
    void keep(const Digest& digest, const os::FileStatus& version, Content content);
    void drop(const Digest& digest);

private:
    struct Kept {
        Digest digest;
        os::FileStatus version;
        Content content;
    };

    mutable Synced<KeyedMap<os::FileStatus>> verified_;  // by the digest's text
    mutable Synced<std::vector<Kept>> kept_;             // the one used last at the end
};

}  // namespace ponk::snapshot

// SPDX-License-Identifier: Apache-2.0
#include "snapshot/recent_contents.hpp"

#include <cstdint>
#include <utility>

namespace ponk::snapshot {

namespace {

// An entry has about 200 bytes.
constexpr std::size_t most_verified = 16'384;
// Four chunks. A content that is larger alone is not kept.
constexpr std::size_t most_kept = std::size_t{16} << 20;

}  // namespace

bool RecentContents::is_verified(const Digest& digest, const os::FileStatus& version) const
{
    const auto verified = verified_.lock();
    const auto known = verified->find(digest.text());
    return known != verified->end() && known->second.same_version(version);
}

void RecentContents::note_verified(const Digest& digest, const os::FileStatus& version)
{
    const auto verified = verified_.lock();
    if (verified->size() >= most_verified) verified->clear();
    verified->insert_or_assign(digest.text(), version);
}

RecentContents::Content RecentContents::find(const Digest& digest,
                                             const os::FileStatus& version) const
{
    const auto all = kept_.lock();
    for (const auto& kept : *all) {
        if (kept.digest == digest && kept.version.same_version(version)) return kept.content;
    }
    return nullptr;
}

void RecentContents::keep(const Digest& digest, const os::FileStatus& version, Content content)
{
    if (content->size() > most_kept) return;
    const auto all = kept_.lock();
    std::erase_if(*all, [&digest](const Kept& one) { return one.digest == digest; });
    all->push_back({digest, version, std::move(content)});
    std::size_t bytes = 0;
    std::size_t fit = 0;  // from the last one on
    for (auto one = all->rbegin(); one != all->rend(); ++one, ++fit) {
        bytes += one->content->size();
        if (bytes > most_kept) break;
    }
    all->erase(all->begin(), all->end() - static_cast<std::ptrdiff_t>(fit));
}

void RecentContents::drop(const Digest& digest)
{
    std::erase_if(*kept_.lock(), [&digest](const Kept& one) { return one.digest == digest; });
}

}  // namespace ponk::snapshot

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/merge_kept.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

namespace ponk::engine {

using snapshot::EntryKind;
using snapshot::Manifest;
using snapshot::ManifestEntry;

namespace {

// Something that is not a folder is there, or above it.
bool is_taken(const Manifest& outputs, const ManifestEntry& entry)
{
    for (auto slash = entry.path.find('/'); slash != std::string::npos;
         slash = entry.path.find('/', slash + 1)) {
        const auto* const above = outputs.find(std::string_view(entry.path).substr(0, slash));
        if (above != nullptr && above->kind != EntryKind::folder) return true;
    }
    return outputs.find(entry.path) != nullptr;
}

}  // namespace

Result<Digest> merge_kept(const snapshot::ObjectStore& objects,
                          const std::optional<Digest>& outputs,
                          const Manifest& kept,
                          executor::Notices& notices)
{
    const auto own =
        outputs ? TRY(objects.read_manifest(*outputs)) : TRY(Manifest::from_entries({}));
    auto entries = own.entries();
    for (const auto& entry : kept.entries()) {
        if (!is_taken(own, entry)) {
            entries.push_back(entry);
        } else if (entry.kind != EntryKind::folder) {
            notices.push_back(fmt::format("'{}' was not collected with the outputs, which have a "
                                          "file of that name; it stays in the run's copy",
                                          printable(entry.path)));
        }
    }
    const auto merged = TRY(Manifest::from_entries(std::move(entries)));
    return objects.put(merged.text());
}

}  // namespace ponk::engine

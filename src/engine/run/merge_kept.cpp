// SPDX-License-Identifier: Apache-2.0
#include "engine/run/merge_kept.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::string outermost_names(const snapshot::Manifest& list)
{
    constexpr std::size_t most = 5;
    std::vector<std::string> names;
    for (const auto& entry : list.entries()) {
        const auto slash = entry.path.find('/');
        const bool is_folder =
            slash != entry.path.npos || entry.kind == snapshot::EntryKind::folder;
        auto name = printable(entry.path.substr(0, slash)) + (is_folder ? "/" : "");
        if (std::ranges::find(names, name) != names.end()) continue;
        if (names.size() == most) return join(names, ", ") + ", …";
        names.push_back(std::move(name));
    }
    return join(names, ", ");
}

}  // namespace ponk::engine

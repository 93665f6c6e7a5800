// SPDX-License-Identifier: Apache-2.0
#include "snapshot/scan_result.hpp"

#include <fmt/format.h>

#include <deque>

namespace ponk::snapshot {

namespace {

// The kernel's clock for file times ticks every 10 ms at the slowest; some file systems keep whole
// seconds, or two of them.
constexpr std::int64_t fine_tick_ns = 30'000'000;
constexpr std::int64_t coarse_tick_ns = 3'000'000'000;
constexpr std::int64_t second_ns = 1'000'000'000;

// One entry, from the scan or, for an unchanged folder, from the cache.
struct Entry {
    std::string_view name;
    EntryKind kind;
    const os::FileStatus& status;
    const Digest& digest;
    const std::vector<Chunk>& chunks;
    std::string_view target;
    std::uint32_t child;  // of a folder: its index in the scan
    bool trusted;         // known from the cache and believed there
};

template <class Visit>
void for_each_entry(const TreeScan& scan,
                    const StatCache* cache,
                    const ScannedFolder& folder,
                    const Visit& visit)
{
    if (folder.unchanged) {
        const auto known = cache->folder(folder.cached);
        for (std::uint32_t i = 0; i < known.file_count; ++i) {
            const auto file = cache->file(known.first_file + i);
            const auto chunks = cache->chunks(file);
            const auto child = file.kind == EntryKind::folder ? scan.seen_as(file.child) : 0;
            visit(Entry{file.name,
                        file.kind,
                        file.status,
                        file.digest,
                        chunks,
                        file.target,
                        child,
                        file.trusted});
        }
        return;
    }
    for (const auto& file : folder.files) {
        if (file.skipped) continue;
        visit(Entry{file.name,
                    file.kind,
                    file.status,
                    file.digest,
                    file.chunks,
                    file.target,
                    file.child,
                    false});
    }
}

// Depth first, in manifest order, with full paths.
template <class Visit>
void walk(const TreeScan& scan,
          const StatCache* cache,
          std::uint32_t index,
          std::string& path,
          const Visit& visit)
{
    for_each_entry(scan, cache, scan.folder(index), [&](const Entry& entry) {
        const auto length = path.size();
        if (!path.empty()) path += '/';
        path += entry.name;
        if (entry.kind != EntryKind::folder) {
            visit(path, entry);
        } else if (!scan.folder(entry.child).gone) {
            visit(path, entry);
            walk(scan, cache, entry.child, path, visit);
        }
        path.resize(length);
    });
}

// A later change of its rules could carry the same times.
bool are_stable(const config::TravelRules::Signs& signs, std::int64_t started_ns)
{
    return signs.rules.inode == 0 || is_stable(signs.rules, started_ns);
}

}  // namespace

std::string signs_text(const config::TravelRules::Signs& signs)
{
    const auto& rules = signs.rules;
    if (rules.inode == 0 && !signs.repository && signs.marks == 0) return "";
    return fmt::format("{} {} {} {} {} {} {}",
                       rules.inode,
                       rules.size,
                       rules.mtime_ns,
                       rules.ctime_ns,
                       rules.mode,
                       signs.repository ? 1 : 0,
                       signs.marks);
}

bool is_stable(const os::FileStatus& status, std::int64_t started_ns)
{
    const bool coarse = status.mtime_ns % second_ns == 0 && status.ctime_ns % second_ns == 0;
    const auto limit = started_ns - (coarse ? coarse_tick_ns : fine_tick_ns);
    return status.mtime_ns < limit && status.ctime_ns < limit;
}

std::string manifest_text(const TreeScan& scan, const StatCache* cache, CacheFacts& facts)
{
    std::string text;
    append_manifest_header(text);
    std::string path;
    facts.files = 0;
    facts.bytes = 0;
    walk(scan, cache, 0, path, [&](std::string_view at, const Entry& entry) {
        if (entry.kind == EntryKind::folder) return append_folder(text, at);
        if (entry.kind == EntryKind::link) return append_link(text, at, entry.target);
        ++facts.files;
        facts.bytes += entry.status.size;
        if (entry.chunks.empty())
            return append_file(text, entry.kind, entry.status.size, entry.digest, at);
        append_chunked_file(text, entry.kind, entry.status.size, entry.chunks, at);
    });
    return text;
}

std::string cache_bytes(const TreeScan& scan,
                        const StatCache* cache,
                        const CacheFacts& facts,
                        std::int64_t started_ns)
{
    StatCacheBuilder builder;
    struct Waiting {
        std::uint32_t scanned;
        std::uint32_t file;  // the entry in its parent that must learn its index
    };
    std::deque<Waiting> waiting{{0, 0}};
    while (!waiting.empty()) {
        const auto next = waiting.front();
        waiting.pop_front();
        const auto& folder = scan.folder(next.scanned);
        if (next.scanned != 0) builder.set_child(next.file, builder.folder_count());
        builder.add_folder(folder.path,
                           folder.status,
                           folder.reusable && is_stable(folder.status, started_ns),
                           folder.left_out,
                           are_stable(folder.signs, started_ns) ? signs_text(folder.signs) : "?");
        for_each_entry(scan, cache, folder, [&](const Entry& entry) {
            CachedFile file;
            file.name = entry.name;
            file.kind = entry.kind;
            file.target = entry.target;
            if (entry.kind == EntryKind::folder) {
                if (scan.folder(entry.child).gone) return;
                waiting.push_back({entry.child, builder.file_count()});
            } else {
                file.status = entry.status;
                file.digest = entry.digest;
                file.trusted = entry.trusted || is_stable(entry.status, started_ns);
            }
            builder.add_file(file, entry.chunks);
        });
    }
    return builder.bytes(facts);
}

std::vector<TreeFile> tree_files(const TreeScan& scan, const StatCache* cache)
{
    std::vector<TreeFile> files;
    std::string path;
    walk(scan, cache, 0, path, [&](std::string_view at, const Entry& entry) {
        if (entry.kind != EntryKind::folder)
            files.push_back({std::string(at), entry.kind, entry.status});
    });
    return files;
}

}  // namespace ponk::snapshot

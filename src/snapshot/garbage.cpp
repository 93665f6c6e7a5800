// SPDX-License-Identifier: Apache-2.0
#include "snapshot/garbage.hpp"

#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "os/directory.hpp"
#include "os/file_lock.hpp"
#include "os/tree.hpp"
#include "snapshot/lease.hpp"
#include "snapshot/work_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

constexpr std::string_view temporary_prefix = ".tmp-";
constexpr const char* unreadable_name = "unreadable";

// Calls `visit` for every object file: its folder, the folder's name, its own name.
template <class Visit>
Result<> for_each_object(const ObjectStore& store, std::stop_token stop, const Visit& visit)
{
    for (const auto& fan : TRY(os::list_directory(store.objects_fd()))) {
        if (fan.type != DT_DIR || fan.name.size() != 2) continue;
        const int fd = os::open_folder_beneath(store.objects_fd(), fan.name);
        if (fd < 0) return fail_errno(-fd, "list folder '{}' of the object store", fan.name);
        const os::Fd folder(fd);
        for (const auto& entry : TRY(os::list_directory(folder.get()))) {
            if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
            Digest digest;
            if (parse_digest(fan.name + entry.name, digest))
                TRY(visit(folder.get(), entry.name, digest));
        }
    }
    return {};
}

using DigestSet = KeyedSet<>;

DigestSet objects_in_use(const ObjectStore& store,
                         const std::vector<Digest>& live,
                         std::vector<UnreadableManifest>& unreadable)
{
    DigestSet used;
    for (const auto& id : live) {
        if (!used.insert(id.text()).second) continue;
        const auto manifest = store.read_manifest(id);
        if (!manifest) {
            unreadable.push_back({id, manifest.error().message()});
            continue;
        }
        for (const auto& entry : manifest->entries()) {
            if (!entry.is_file()) continue;
            if (entry.chunks.empty()) used.insert(entry.digest.text());
            for (const auto& chunk : entry.chunks)
                used.insert(chunk.digest.text());
        }
    }
    return used;
}

// What manifests that cannot be read may name: everything that was in the store when that was seen
// first. What was made later is not among it, unless it is there for the second time.
class Unknown {
public:
    static Result<Unknown> of(const ObjectStore& store,
                              const GarbageOptions& options,
                              const std::vector<UnreadableManifest>& unreadable)
    {
        Unknown unknown;
        const auto notes = store.root() / unreadable_name;
        DigestSet named;
        for (const auto& manifest : unreadable)
            named.insert(manifest.id.text());
        for (const auto& id : TRY(noted_unreadable(store))) {
            if (!named.contains(id.text())) TRY(os::remove_tree(notes / id.text()));
        }
        if (unreadable.empty()) return unknown;
        unknown.any_ = true;
        for (const auto& manifest : unreadable) {
            const auto since = TRY(noted_since(store, options, notes / manifest.id.text()));
            unknown.since_ns_ = std::max(unknown.since_ns_, since);
        }
        for (const auto& entry : TRY(os::list_directory(store.root() / "quarantine")))
            unknown.replaced_.insert(entry.name.substr(0, Digest().text().size()));
        return unknown;
    }

    [[nodiscard]] bool may_name(int folder, const std::string& name, const Digest& digest) const
    {
        if (!any_) return false;
        const auto made = made_ns(folder, name);
        return made == 0 || made <= since_ns_ || replaced_.contains(digest.text());
    }

private:
    // When it was made, which nobody can set; 0 where the file system does not say.
    static std::int64_t made_ns(int folder, const std::string& name)
    {
        struct statx info {};
        if (::statx(folder, name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) != 0 ||
            (info.stx_mask & STATX_BTIME) == 0)
            return 0;
        return info.stx_btime.tv_sec * 1'000'000'000 + info.stx_btime.tv_nsec;
    }

    // Not before the newest object: the clock may be behind the one that was right then.
    static Result<std::int64_t>
    noted_since(const ObjectStore& store, const GarbageOptions& options, const os::Path& note)
    {
        if (const auto text = TRY(os::read_file_if_any(note, 64))) {
            if (const auto since = parse_integer(trim(*text))) return *since;
        }
        auto since = options.now_ms * 1'000'000;
        TRY(for_each_object(
            store, options.stop, [&](int folder, const std::string& name, const Digest&) {
                since = std::max(since, made_ns(folder, name));
                return Result<>();
            }));
        TRY(os::make_directories(note.parent_path()));
        TRY(os::replace_file(note, std::to_string(since) + "\n"));
        return since;
    }

    bool any_ = false;
    std::int64_t since_ns_ = 0;
    DigestSet replaced_;
};

// One pass of the collector, with its lock held.
class Pass {
public:
    Pass(const ObjectStore& store, const GarbageOptions& options, GarbageReport& report)
        : store_(store), options_(options), report_(report)
    {
    }

    Result<> pick_victims(const DigestSet& used, const Unknown& unknown)
    {
        const auto oldest_kept_ms =
            options_.now_ms - std::chrono::milliseconds(options_.grace).count();
        return for_each_object(
            store_,
            options_.stop,
            [&](int folder, const std::string& name, const Digest& digest) -> Result<> {
                if (used.contains(digest.text())) {
                    ++report_.live_objects;
                    return {};
                }
                os::FileStatus status;
                if (os::status_at(folder, name.c_str(), status) != 0) return {};
                // ctime too: an output that became an object by hard link has an old mtime.
                const auto touched_ms = std::max(status.mtime_ns, status.ctime_ns) / 1'000'000;
                if (touched_ms > oldest_kept_ms) return {};
                if (unknown.may_name(folder, name, digest)) {
                    ++report_.kept_objects;
                    return {};
                }
                return trash(folder, name, digest, status.size);
            });
    }

    // Files of writers that were killed where the file system has no nameless files.
    Result<> remove_leftovers()
    {
        for (const auto& entry : TRY(os::list_directory(store_.objects_fd()))) {
            if (entry.name.starts_with(temporary_prefix))
                ::unlinkat(store_.objects_fd(), entry.name.c_str(), 0);
        }
        return {};
    }

private:
    Result<> trash(int folder, const std::string& name, const Digest& digest, std::uint64_t size)
    {
        if (bin_.empty()) {
            // Durable before the first object goes: no stat cache may believe the old state.
            TRY(store_.advance_generation());
            bin_ = store_.root() / "trash" / std::to_string(options_.now_ms);
            TRY(os::make_directories(bin_));
        }
        const auto to = bin_ / digest.text();
        if (::renameat(folder, name.c_str(), AT_FDCWD, to.c_str()) != 0)
            return fail_errno(errno, "move object '{}' to the trash", digest.text());
        ++report_.trashed_objects;
        report_.trashed_bytes += size;
        return {};
    }

    const ObjectStore& store_;
    const GarbageOptions& options_;
    GarbageReport& report_;
    os::Path bin_;
};

// One that cannot be removed does not keep the others.
Result<>
empty_old_trash(const ObjectStore& store, const GarbageOptions& options, GarbageReport& report)
{
    const auto trash = store.root() / "trash";
    Result<> outcome;
    for (const auto& entry : TRY(os::list_directory(trash))) {
        const auto since_ms = parse_integer(entry.name);
        const auto keep_ms = std::chrono::milliseconds(options.trash_time).count();
        if (!since_ms || *since_ms + keep_ms > options.now_ms) continue;
        const auto objects = os::list_directory(trash / entry.name);
        const auto removed = os::remove_tree(trash / entry.name);
        if (removed && objects) report.deleted_objects += objects->size();
        if (!removed && outcome) outcome = removed;
    }
    return outcome;
}

}  // namespace

Result<std::vector<Digest>> noted_unreadable(const ObjectStore& store)
{
    std::vector<Digest> manifests;
    const auto entries = os::list_directory(store.root() / unreadable_name);
    if (!entries && entries.error().kind() == ErrorKind::not_found) return manifests;
    for (const auto& entry : TRY(entries)) {
        Digest digest;
        if (parse_digest(entry.name, digest)) manifests.push_back(digest);
    }
    return manifests;
}

Result<GarbageReport> collect_garbage(const ObjectStore& store, const GarbageOptions& options)
{
    GarbageReport report;
    {
        const auto lock = os::FileLock::take(lock_path(store.root()),
                                             os::FileLock::Kind::exclusive,
                                             after(options.lock_patience),
                                             options.stop);
        if (!lock && lock.error().kind() != ErrorKind::timeout) return tl::unexpected(lock.error());
        if (!lock) {
            report.deferred_by.push_back(lock.error().message());
        } else if (auto leases = TRY(living_leases(store.root())); !leases.empty()) {
            report.deferred_by = std::move(leases);
        } else {
            const auto live = TRY(options.live());
            const auto used = objects_in_use(store, live, report.unreadable);
            const auto unknown = TRY(Unknown::of(store, options, report.unreadable));
            Pass pass(store, options, report);
            TRY(pass.remove_leftovers());
            TRY(pass.pick_victims(used, unknown));
        }
    }
    TRY(empty_old_trash(store, options, report));
    return report;
}

Result<ScrubReport> scrub(const ObjectStore& store, std::stop_token stop)
{
    ScrubReport report;
    Synced<std::vector<Digest>> damaged;
    std::atomic<std::uint64_t> bytes{0};
    WorkPool pool(0, stop);
    TRY(for_each_object(
        store, stop, [&](int, const std::string&, const Digest& digest) -> Result<> {
            ++report.objects;
            pool.add([&, digest](std::size_t) -> Result<> {
                const auto read =
                    store.stream(digest, [&bytes](std::string_view piece) -> Result<> {
                        bytes += piece.size();
                        return {};
                    });
                if (!read && read.error().kind() == ErrorKind::damaged) {
                    damaged.lock()->push_back(digest);
                    return {};
                }
                // Gone since it was listed: moved to the trash meanwhile.
                return !read && read.error().kind() != ErrorKind::not_found ? read : Result<>{};
            });
            return {};
        }));
    TRY(pool.run());
    report.bytes = bytes.load();
    report.damaged = *damaged.lock();
    std::sort(report.damaged.begin(), report.damaged.end());
    return report;
}

}  // namespace ponk::snapshot

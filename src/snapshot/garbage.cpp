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
#include <unistd.h>

namespace ponk::snapshot {

namespace {

constexpr std::string_view temporary_prefix = ".tmp-";

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

Result<DigestSet> objects_in_use(const ObjectStore& store, const std::vector<Digest>& live)
{
    DigestSet used;
    for (const auto& id : live) {
        if (!used.insert(id.text()).second) continue;
        const auto manifest = TRY(store.read_manifest(id).map_error([](const Error& error) {
            return error.within("garbage collection stopped, since it cannot tell what is in use")
                .with_hint("Remove the run whose snapshot is lost, or restore the object store "
                           "from a backup.");
        }));
        for (const auto& entry : manifest.entries()) {
            if (!entry.is_file()) continue;
            if (entry.chunks.empty()) used.insert(entry.digest.text());
            for (const auto& chunk : entry.chunks)
                used.insert(chunk.digest.text());
        }
    }
    return used;
}

// One pass of the collector, with its lock held.
class Pass {
public:
    Pass(const ObjectStore& store, const GarbageOptions& options, GarbageReport& report)
        : store_(store), options_(options), report_(report)
    {
    }

    Result<> pick_victims(const DigestSet& used)
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

Result<>
empty_old_trash(const ObjectStore& store, const GarbageOptions& options, GarbageReport& report)
{
    const auto trash = store.root() / "trash";
    for (const auto& entry : TRY(os::list_directory(trash))) {
        const auto since_ms = parse_integer(entry.name);
        const auto keep_ms = std::chrono::milliseconds(options.trash_time).count();
        if (!since_ms || *since_ms + keep_ms > options.now_ms) continue;
        report.deleted_objects += TRY(os::list_directory(trash / entry.name)).size();
        TRY(os::remove_tree(trash / entry.name));
    }
    return {};
}

}  // namespace

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
            const auto used = TRY(objects_in_use(store, live));
            Pass pass(store, options, report);
            TRY(pass.remove_leftovers());
            TRY(pass.pick_victims(used));
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

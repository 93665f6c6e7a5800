// SPDX-License-Identifier: Apache-2.0
#include "snapshot/take_snapshot.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "snapshot/git_dirty.hpp"
#include "snapshot/object_writer.hpp"
#include "snapshot/scan_result.hpp"
#include "snapshot/stat_cache.hpp"
#include "snapshot/tree_scan.hpp"

#include <fcntl.h>

namespace ponk::snapshot {

namespace {

// One snapshot in the making: the steps in the order they are called.
class Snapshot {
public:
    Snapshot(const ObjectStore& store, const SnapshotOptions& options, FileStorer::Source source)
        : store_(store), options_(options), source_(source), writer_(store)
    {
    }

    Result<SnapshotReport> take()
    {
        auto lease = TRY(Lease::take(
            store_.root(), "snapshot of " + options_.directory.native(), options_.stop));
        const auto root = TRY(os::open_file(options_.directory, O_RDONLY | O_DIRECTORY));
        TRY(load_cache());
        if (options_.git == SnapshotOptions::Git::record) {
            git_ = GitProbe::start(
                options_.directory, cache_ ? cache_->facts().git_memo : "", options_.stop);
        }
        TreeScan scan(store_, writer_, options_, source_, cache_ ? &*cache_ : nullptr, trust_);
        TRY(scan.run(root.get()));
        const bool unchanged = trust_ == CacheTrust::full && scan.all_unchanged() &&
                               TRY(store_.contains(cache_->facts().manifest));
        if (unchanged) {
            facts_.manifest = cache_->facts().manifest;
            facts_.files = cache_->facts().files;
            facts_.bytes = cache_->facts().bytes;
        } else {
            TRY(publish(scan));
        }
        SnapshotReport report{facts_.manifest, std::move(lease)};
        if (git_) {
            report.git = git_->finish(
                unchanged,
                [&] { return tree_files(scan, cache_ ? &*cache_ : nullptr); },
                options_.git_patience);
            facts_.git_memo = git_->memo();
        }
        if (!options_.cache_file.empty()) save_cache(scan, unchanged);
        report.files = facts_.files;
        report.bytes = facts_.bytes;
        report.files_read = scan.files_read();
        report.bytes_read = scan.bytes_read();
        report.objects_added = writer_.added();
        report.notices = scan.notices();
        report.left_out = scan.left_out();
        return report;
    }

private:
    Result<> load_cache()
    {
        facts_.store = store_.identity();
        facts_.generation = TRY(store_.generation());
        facts_.ignore = sha256(options_.ignore.fingerprint);
        if (options_.cache_file.empty()) return {};
        cache_ = StatCache::load(options_.cache_file);
        if (!cache_) return {};
        const auto& known = cache_->facts();
        if (known.store != facts_.store || known.generation != facts_.generation) {
            trust_ = CacheTrust::digests;
        } else if (known.ignore == facts_.ignore &&
                   (!options_.ignore.ignored || !options_.ignore.fingerprint.empty())) {
            trust_ = CacheTrust::full;
        } else {
            trust_ = CacheTrust::objects;
        }
        return {};
    }

    // The manifest goes with the last batch of objects and gets its name after them.
    Result<> publish(TreeScan& scan)
    {
        const auto text = manifest_text(scan, cache_ ? &*cache_ : nullptr, facts_);
        facts_.manifest = sha256(text);
        TRY(scan.flush());
        if (TRY(writer_.claim(facts_.manifest))) TRY(scan.stage().add(facts_.manifest, text));
        TRY(scan.flush());
        return writer_.sync_names();
    }

    // A cache that cannot be written costs time at the next snapshot, nothing else.
    void save_cache(TreeScan& scan, bool unchanged)
    {
        if (unchanged && cache_->facts().git_memo == facts_.git_memo) return;
        const auto bytes = cache_bytes(scan, cache_ ? &*cache_ : nullptr, facts_, started_ns_);
        static_cast<void>(os::make_directories(options_.cache_file.parent_path()));
        static_cast<void>(os::replace_file(options_.cache_file, bytes, 0600, os::Durable::no));
    }

    const ObjectStore& store_;
    const SnapshotOptions& options_;
    FileStorer::Source source_;
    std::int64_t started_ns_ = wall_milliseconds() * 1'000'000;
    ObjectWriter writer_;
    std::optional<StatCache> cache_;
    CacheTrust trust_ = CacheTrust::digests;
    CacheFacts facts_;
    std::unique_ptr<GitProbe> git_;
};

}  // namespace

Result<SnapshotReport> take_snapshot(const ObjectStore& store, const SnapshotOptions& options)
{
    return Snapshot(store, options, FileStorer::Source::living)
        .take()
        .map_error(while_doing("snapshot of {}", os::in_quotes(options.directory)));
}

Result<SnapshotReport>
store_tree(const ObjectStore& store, const os::Path& directory, const SnapshotOptions& options)
{
    auto finished = options;
    finished.directory = directory;
    finished.git = SnapshotOptions::Git::skip;
    return Snapshot(store, finished, FileStorer::Source::finished)
        .take()
        .map_error(while_doing("store {}", os::in_quotes(directory)));
}

}  // namespace ponk::snapshot

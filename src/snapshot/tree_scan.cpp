// SPDX-License-Identifier: Apache-2.0
#include "snapshot/tree_scan.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

// Folders with more names than this are shared out between workers.
constexpr std::size_t part_size = 256;

std::string path_below(const std::string& folder, std::string_view name)
{
    std::string path;
    path.reserve(folder.size() + name.size() + 1);
    if (!folder.empty()) path.append(folder).push_back('/');
    return path.append(name);
}

bool same_folder(const os::FileStatus& left, const os::FileStatus& right)
{
    return left.mtime_ns == right.mtime_ns && left.ctime_ns == right.ctime_ns &&
           left.inode == right.inode && left.device == right.device;
}

tl::unexpected<Error> cannot_list(int errno_value, const std::string& path)
{
    auto error =
        system_error(errno_value, "list folder '" + printable(path.empty() ? "." : path) + "'");
    if (errno_value == EACCES || errno_value == EPERM)
        error = error.with_hint("Make it readable, or list it in .amlignore to leave it out.");
    return tl::unexpected(std::move(error));
}

const char* kind_text(unsigned char type)
{
    switch (type) {
    case DT_SOCK:
        return "a socket";
    case DT_FIFO:
        return "a named pipe";
    default:
        return "a device";
    }
}

}  // namespace

// A folder while its files are looked at.
struct TreeScan::OpenFolder {
    os::Fd fd;
    ScannedFolder& folder;
};

TreeScan::TreeScan(const ObjectStore& store,
                   ObjectWriter& writer,
                   const SnapshotOptions& options,
                   FileStorer::Source source,
                   const StatCache* cache,
                   CacheTrust trust)
    : store_(store), options_(options), cache_(cache), trust_(trust),
      pool_(options.threads, options.stop), name_lists_(pool_.size())
{
    if (cache_) seen_as_.assign(cache_->folder_count(), none);
    for (std::size_t i = 0; i < pool_.size(); ++i)
        storers_.push_back(std::make_unique<FileStorer>(store, writer, options, source, counters_));
}

Result<> TreeScan::run(int root)
{
    root_ = root;
    const auto cached = cache_ ? 0 : none;
    const auto index = add_folder("", cached);
    add_visit(index, cached, trust_ == CacheTrust::full);
    auto done = pool_.run();
    if (done && folders_.front().gone)
        return fail(ErrorKind::not_found, "the project folder was removed meanwhile");
    if (done && options_.on_progress)
        options_.on_progress({counters_.files.load(), counters_.bytes.load()});
    return done;
}

Result<> TreeScan::flush()
{
    for (const auto& storer : storers_)
        TRY(storer->stage().flush());
    return {};
}

bool TreeScan::all_unchanged() const
{
    return std::all_of(
        folders_.begin(), folders_.end(), [](const ScannedFolder& f) { return f.unchanged; });
}

std::uint32_t TreeScan::add_folder(std::string path, std::uint32_t cached, std::uint32_t parent)
{
    const std::lock_guard lock(mutex_);
    const auto index = static_cast<std::uint32_t>(folders_.size());
    auto& folder = folders_.emplace_back();
    folder.path = std::move(path);
    folder.parent = parent;
    if (cached != none) seen_as_[cached] = index;
    return index;
}

ScannedFolder& TreeScan::folder_at(std::uint32_t index)
{
    const std::lock_guard lock(mutex_);
    return folders_[index];
}

void TreeScan::add_visit(std::uint32_t index, std::uint32_t cached, bool names_known)
{
    pool_.add([=, this](std::size_t worker) { return visit(worker, index, cached, names_known); });
}

// `names_known`: as far as the rules above are concerned, what the cache says of the names in it
// holds.
Result<>
TreeScan::visit(std::size_t worker, std::uint32_t index, std::uint32_t cached, bool names_known)
{
    auto& folder = folder_at(index);
    os::Fd fd(os::open_folder_beneath(root_, folder.path));
    if (fd.get() < 0) {
        const int failed = -fd.release();
        if (failed != ENOENT && failed != ENOTDIR && failed != ELOOP)
            return cannot_list(failed, folder.path);
        folder.gone = true;
        return {};
    }
    if (const int failed = os::status_of(fd.get(), folder.status); failed != 0)
        return cannot_list(failed, folder.path);
    CachedFolder known;
    if (cached != none) {
        known = cache_->folder(cached);
        folder.cached = cached;
    }
    if (options_.ignore.rules != nullptr) {
        folder.signs = config::TravelRules::signs_in(fd.get());
        // What a repository inside the project tracks may change without a trace in its folders.
        if ((folder.signs.repository && !folder.path.empty()) ||
            known.signs != signs_text(folder.signs))
            names_known = false;
    }
    if (cached != none && names_known && known.trusted &&
        same_folder(known.status, folder.status) && visit_unchanged(fd.get(), index, known))
        return {};
    if (TRY(leave_out(folder))) return {};
    TRY(list(worker, fd.get(), folder));
    match_with_cache(folder, known);
    const auto open = std::make_shared<OpenFolder>(OpenFolder{std::move(fd), folder});
    const auto count = folder.files.size();
    // Folders below become tasks before the parts do, so that the parts are done first and the
    // descriptor is closed soon.
    for (auto& file : folder.files) {
        if (file.kind == EntryKind::folder) add_child(index, file, names_known);
    }
    for (auto begin = part_size; begin < count; begin += part_size) {
        pool_.add([=, this](std::size_t other) {
            return examine(other, open, begin, std::min(begin + part_size, count));
        });
    }
    return examine(worker, open, 0, std::min(part_size, count));
}

// What is in a folder may tell that it stays out, after the folder above was read: it was made an
// environment since the last snapshot.
Result<bool> TreeScan::leave_out(ScannedFolder& folder)
{
    if (options_.ignore.rules == nullptr || folder.path.empty()) return false;
    const auto slash = folder.path.rfind('/');
    const auto above = TRY(options_.ignore.rules->folder(
        slash == std::string::npos ? "" : folder.path.substr(0, slash)));
    const auto decision = TRY(options_.ignore.rules->decide(*above, folder.path, true));
    if (decision.fate != config::TravelRules::Fate::left_out) return false;
    folder.gone = true;
    const std::lock_guard lock(mutex_);
    auto& parent = folders_[folder.parent];
    parent.reusable = false;
    parent.left_out.add(
        std::string_view(folder.path).substr(slash == std::string::npos ? 0 : slash + 1), true);
    return true;
}

void TreeScan::add_child(std::uint32_t parent, ScannedFile& file, bool names_known)
{
    const auto cached = file.cached != none && cache_->file(file.cached).kind == EntryKind::folder
                            ? cache_->file(file.cached).child
                            : none;
    const auto child = add_folder(path_below(folder_at(parent).path, file.name), cached, parent);
    file.child = child;
    add_visit(child, cached, names_known);
}

// The folder's list of names is the cached one: looks at each file, and needs no list of its own as
// long as all are as they were.
bool TreeScan::visit_unchanged(int fd, std::uint32_t index, const CachedFolder& known)
{
    auto& folder = folder_at(index);
    std::vector<CachedFile> below;
    std::vector<CachedFile> links;
    std::vector<std::string_view> secrets;
    for (std::uint32_t i = 0; i < known.file_count; ++i) {
        const auto file = cache_->file(known.first_file + i);
        if (file.kind == EntryKind::folder) {
            below.push_back(file);
            continue;
        }
        os::FileStatus status;
        if (!file.trusted || os::status_at(fd, file.name.data(), status) != 0 ||
            !status.same_version(file.status))
            return false;
        if (file.kind == EntryKind::link) links.push_back(file);
        if (config::TravelRules::may_hold_secrets(file.name)) secrets.push_back(file.name);
    }
    for (const auto& link : links)
        note_link(path_below(folder.path, link.name), link.target);
    for (const auto& name : secrets)
        note_secrets(path_below(folder.path, name));
    counters_.files += known.file_count - below.size();
    folder.unchanged = true;
    folder.left_out = known.left_out;
    for (const auto& file : below) {
        const auto child = add_folder(path_below(folder.path, file.name), file.child, index);
        add_visit(child, file.child, true);
    }
    return true;
}

Result<> TreeScan::list(std::size_t worker, int fd, ScannedFolder& folder)
{
    auto& list = name_lists_[worker];
    if (const int failed = list.read(fd); failed != 0) return cannot_list(failed, folder.path);
    std::vector<os::NameList::Name> kept;
    kept.reserve(list.names().size());
    std::size_t length = 0;
    const auto* const rules = options_.ignore.rules;
    const auto here =
        rules != nullptr ? TRY(rules->folder(folder.path)) : config::TravelRules::FolderPtr();
    for (const auto& name : list.names()) {
        // A project's own rules may make each name expensive.
        if (options_.stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        const auto is_folder = name.type == DT_DIR;
        const auto path = path_below(folder.path, name.text);
        if (rules != nullptr) {
            const auto decision = TRY(rules->decide(*here, path, is_folder));
            if (decision.fate == config::TravelRules::Fate::left_out) {
                if (!decision.own) folder.left_out.add(name.text, is_folder);
                // The mark may go without a trace in this folder.
                if (decision.by_mark) folder.reusable = false;
                continue;
            }
        }
        if (options_.ignore.ignored && options_.ignore.ignored(path, is_folder)) continue;
        if (!is_folder && name.type != DT_REG && name.type != DT_LNK) {
            folder.reusable = false;
            note("'" + printable(path) + "' is " + kind_text(name.type) + " and was left out");
            continue;
        }
        if (path.size() > longest_path) {
            folder.reusable = false;
            leave_out_long(path);
            continue;
        }
        if (!is_folder && config::TravelRules::may_hold_secrets(name.text)) note_secrets(path);
        kept.push_back(name);
        length += name.text.size() + 1;
    }
    const auto kind = [](const os::NameList::Name& name) {
        return name.type == DT_DIR ? EntryKind::folder : EntryKind::file;
    };
    std::sort(kept.begin(), kept.end(), [&](const auto& left, const auto& right) {
        return compare_in_manifest(left.text, kind(left), right.text, kind(right)) < 0;
    });
    folder.names.reserve(length);
    folder.files.reserve(kept.size());
    for (const auto& name : kept) {
        const auto offset = folder.names.size();
        folder.names.append(name.text).push_back('\0');
        auto& file = folder.files.emplace_back();
        file.name = {folder.names.data() + offset, name.text.size()};
        file.kind = name.type == DT_LNK ? EntryKind::link : kind(name);
    }
    return {};
}

// Both lists have one order, so one walk finds all pairs.
void TreeScan::match_with_cache(ScannedFolder& folder, const CachedFolder& known)
{
    std::uint32_t at = 0;
    for (auto& file : folder.files) {
        while (at < known.file_count) {
            const auto cached = cache_->file(known.first_file + at);
            const int order = compare_in_manifest(cached.name, cached.kind, file.name, file.kind);
            if (order > 0) break;
            if (order == 0) file.cached = known.first_file + at;
            ++at;
            if (order == 0) break;
        }
    }
}

Result<> TreeScan::examine(std::size_t worker,
                           const std::shared_ptr<OpenFolder>& open,
                           std::size_t begin,
                           std::size_t end)
{
    for (auto i = begin; i < end; ++i) {
        auto& file = open->folder.files[i];
        if (file.kind == EntryKind::folder) continue;
        if (options_.stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped");
        TRY(examine_one(worker, *open, file));
    }
    counters_.show(options_);
    return {};
}

Result<> TreeScan::examine_one(std::size_t worker, OpenFolder& open, ScannedFile& file)
{
    const auto path = path_below(open.folder.path, file.name);
    const int failed = os::status_at(open.fd.get(), file.name.data(), file.status);
    if (failed == ENOENT) {
        skip(open, file);
        return {};
    }
    if (failed != 0) return fail_errno(failed, "look at '{}'", printable(path));
    ++counters_.files;
    if (file.status.is_link()) return read_link(open, file, path);
    if (!file.status.is_file()) {
        return tl::unexpected(
            Error(ErrorKind::conflict,
                  "'" + printable(path) + "' turned into something else meanwhile",
                  "Try again when nothing changes the folder."));
    }
    file.kind = file.status.is_executable() ? EntryKind::executable : EntryKind::file;
    if (TRY(reuse(file))) return {};
    ++files_read_;
    const auto outcome = TRY(storers_[worker]->store(open.fd.get(), path, file));
    if (outcome == FileStorer::Outcome::gone) skip(open, file);
    if (outcome == FileStorer::Outcome::too_sparse) {
        note(fmt::format("'{}' has {}, nearly all of it never written: it was left out",
                         printable(path),
                         byte_size_text(file.status.size)));
        skip(open, file);
    }
    if (outcome == FileStorer::Outcome::later) {
        auto* const later = &file;
        pool_.add([this, later, path, folder = open.folder.path](std::size_t other) -> Result<> {
            const os::Fd again(os::open_folder_beneath(root_, folder));
            if (again.get() < 0) return cannot_list(ENOENT, folder);
            return storers_[other]->store_large(pool_, storers_, again.get(), path, *later);
        });
    }
    return {};
}

Result<> TreeScan::read_link(OpenFolder& open, ScannedFile& file, const std::string& path)
{
    file.kind = EntryKind::link;
    file.target.resize(4096);
    const auto length =
        ::readlinkat(open.fd.get(), file.name.data(), file.target.data(), file.target.size());
    if (length <= 0) {
        if (errno != ENOENT && errno != EINVAL)
            return fail_errno(errno, "read link '{}'", printable(path));
        skip(open, file);
        return {};
    }
    file.target.resize(static_cast<std::size_t>(length));
    file.target.shrink_to_fit();
    note_link(path, file.target);
    return {};
}

Result<bool> TreeScan::reuse(ScannedFile& file)
{
    if (file.cached == none) return false;
    const auto known = cache_->file(file.cached);
    if (!known.trusted || known.kind == EntryKind::link || known.kind == EntryKind::folder ||
        !known.status.same_version(file.status))
        return false;
    auto chunks = cache_->chunks(known);
    // Objects may have left the store since.
    if (trust_ == CacheTrust::digests && options_.contents == SnapshotOptions::Contents::stored) {
        if (chunks.empty() && !TRY(store_.contains(known.digest))) return false;
        for (const auto& chunk : chunks) {
            if (!TRY(store_.contains(chunk.digest))) return false;
        }
    }
    file.digest = known.digest;
    file.chunks = std::move(chunks);
    return true;
}

void TreeScan::skip(OpenFolder& open, ScannedFile& file)
{
    file.skipped = true;
    open.folder.reusable = false;
}

}  // namespace ponk::snapshot

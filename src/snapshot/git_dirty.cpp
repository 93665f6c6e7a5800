// SPDX-License-Identifier: Apache-2.0
#include "snapshot/git_dirty.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "config/git/git_index.hpp"
#include "os/git_command.hpp"

#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

namespace ponk::snapshot {

namespace {

constexpr std::uint64_t index_limit = std::uint64_t{1} << 30;
// Files that only look changed are hashed to be sure, up to this much in all.
constexpr std::uint64_t hashing_limit = std::uint64_t{32} << 20;
constexpr std::int64_t stable_ns = 2'000'000'000;
constexpr auto longest_question = std::chrono::seconds(20);

std::string flag_text(std::optional<bool> flag)
{
    return flag ? (*flag ? "y" : "n") : "?";
}

std::optional<bool> parse_flag(const std::string& text)
{
    if (text == "y") return true;
    if (text == "n") return false;
    return std::nullopt;
}

// The id git gives to a file's bytes.
std::string blob_id(std::string_view content, std::size_t hash_size)
{
    auto bytes = "blob " + std::to_string(content.size()) + '\0';
    bytes += content;
    if (hash_size == 32) {
        const auto digest = sha256(bytes);
        return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
    }
    const auto digest = sha1(bytes);
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

bool same_kind(const config::GitIndexEntry& entry, const TreeFile& file)
{
    switch (entry.mode & 0170000U) {
    case 0120000U:
        return file.kind == EntryKind::link;
    case 0100000U:
        return file.kind == ((entry.mode & 0100U) != 0 ? EntryKind::executable : EntryKind::file);
    default:
        return false;
    }
}

}  // namespace

// Shared with the thread that waits for git, which may outlive the patience but not the probe.
struct GitProbe::Answer {
    std::mutex mutex;
    std::condition_variable ready;
    bool done = false;
    std::optional<bool> staged;
};

std::unique_ptr<GitProbe>
GitProbe::start(const os::Path& directory, const std::string& memo, std::stop_token stop)
{
    const auto place = config::find_git(directory);
    if (!place || !*place) return nullptr;
    std::unique_ptr<GitProbe> probe(new GitProbe(directory, **place));
    const auto head = config::read_git_head(probe->place_);
    if (!head) return nullptr;
    probe->info_ = *head;
    if (probe->info_.commit.size() == 64) probe->hash_size_ = 32;
    const auto parts = split(memo, ' ');
    if (parts.size() == 5)
        probe->old_ = {parts[0], parts[1], parts[2], parse_flag(parts[3]), parse_flag(parts[4])};
    probe->read_index();
    if (!probe->info_.commit.empty() && !probe->new_.checksum.empty() && !probe->new_.staged)
        probe->ask_git(std::move(stop));
    return probe;
}

// The index's lstat facts and its checksum, which are the keys of what is remembered.
void GitProbe::read_index()
{
    new_.commit = info_.commit.empty() ? "-" : info_.commit;
    const auto file = os::open_file(place_.git_dir / "index", O_RDONLY);
    os::FileStatus status;
    if (!file || os::status_of(file->get(), status) != 0 || status.size < hash_size_) return;
    new_.index =
        fmt::format("{}.{}.{}.{}", status.mtime_ns, status.ctime_ns, status.size, status.inode);
    index_mtime_ns_ = status.mtime_ns;
    index_is_stable_ = status.mtime_ns + stable_ns < wall_milliseconds() * 1'000'000;
    const auto end = os::read_at(file->get(), status.size - hash_size_, hash_size_);
    if (end) new_.checksum = to_hex(*end);
    if (new_.commit == old_.commit && new_.checksum == old_.checksum) new_.staged = old_.staged;
}

void GitProbe::ask_git(std::stop_token stop)
{
    answer_ = std::make_shared<Answer>();
    asking_ = std::jthread([answer = answer_, directory = directory_, stop](std::stop_token ended) {
        std::stop_source both;
        const std::stop_callback first(stop, [&both] { both.request_stop(); });
        const std::stop_callback second(ended, [&both] { both.request_stop(); });
        // With --cached the index alone is compared: no file is read, so no filter is run.
        const auto command = os::git_question(directory,
                                              {"diff-index",
                                               "--cached",
                                               "--quiet",
                                               "--no-ext-diff",
                                               "--no-textconv",
                                               "--ignore-submodules=dirty",
                                               "HEAD",
                                               "--",
                                               "."});
        const auto output = os::run(command, after(longest_question), both.get_token());
        const std::lock_guard lock(answer->mutex);
        if (output && output->exit.signal == 0 && output->exit.code <= 1)
            answer->staged = output->exit.code == 1;
        answer->done = true;
        answer->ready.notify_all();
    });
}

// True when a tracked file differs from the index. nullopt when the index cannot be understood.
std::optional<bool> GitProbe::files_differ(const std::vector<TreeFile>& files)
{
    const auto bytes = os::read_file_if_any(place_.git_dir / "index", index_limit);
    if (!bytes || !*bytes) return std::nullopt;
    const auto index = config::parse_git_index(**bytes, hash_size_);
    if (!index) return std::nullopt;
    std::error_code error;
    const auto below =
        std::filesystem::canonical(directory_, error).lexically_relative(place_.work_tree);
    const auto prefix = below == "." ? std::string() : below.native() + "/";
    const auto root = os::open_file(directory_, O_RDONLY | O_DIRECTORY);
    if (!root) return std::nullopt;
    std::uint64_t hashed = 0;
    auto file = files.begin();
    for (const auto& entry : index->entries) {
        if (!entry.path.starts_with(prefix)) continue;
        if (entry.stage != 0 || entry.intent_to_add) return true;
        if (entry.assume_valid || entry.skip_worktree || (entry.mode & 0170000U) == 0160000U)
            continue;
        const auto path = std::string_view(entry.path).substr(prefix.size());
        while (file != files.end() && file->path < path)
            ++file;
        TreeFile found;
        if (file != files.end() && file->path == path) {
            found = *file;
        } else {  // ignored by the snapshot, or deleted
            hidden_files_ = true;
            found.path = path;
            if (os::status_at(root->get(), found.path.c_str(), found.status) != 0) return true;
            found.kind = found.status.is_link()         ? EntryKind::link
                         : found.status.is_executable() ? EntryKind::executable
                                                        : EntryKind::file;
        }
        if (!same_kind(entry, found)) return true;
        const bool same_stat = entry.mtime_ns == found.status.mtime_ns &&
                               entry.size == static_cast<std::uint32_t>(found.status.size) &&
                               entry.inode == static_cast<std::uint32_t>(found.status.inode);
        // Written in the same instant as the index, a file may have changed after it was compared.
        if (same_stat && entry.mtime_ns < index_mtime_ns_) continue;
        hashed += found.status.size;
        if (hashed > hashing_limit) return std::nullopt;
        std::string content;
        if (found.kind == EntryKind::link) {
            content.resize(4096);
            const auto length =
                ::readlinkat(root->get(), found.path.c_str(), content.data(), content.size());
            if (length < 0) return true;
            content.resize(static_cast<std::size_t>(length));
        } else {
            const auto read = os::read_file(directory_ / found.path, hashing_limit);
            if (!read) return true;
            content = *read;
        }
        if (blob_id(content, hash_size_) != entry.object_id) return true;
    }
    return false;
}

config::GitInfo GitProbe::finish(bool unchanged,
                                 const std::function<std::vector<TreeFile>()>& files,
                                 std::chrono::milliseconds patience)
{
    if (unchanged && old_.dirty && old_.commit == new_.commit && old_.index == new_.index) {
        new_.dirty = old_.dirty;
        info_.dirty = old_.dirty;
        return info_;
    }
    const auto differ = new_.checksum.empty() ? std::optional<bool>(false) : files_differ(files());
    if (answer_) {
        std::unique_lock lock(answer_->mutex);
        if (differ != true)
            answer_->ready.wait_for(lock, patience, [this] { return answer_->done; });
        new_.staged = answer_->staged;
    }
    if (info_.commit.empty()) new_.staged = true;  // nothing is committed yet
    if (differ == true || new_.staged == true) {
        info_.dirty = true;
    } else if (differ && new_.staged) {
        info_.dirty = false;
    }
    if (index_is_stable_ && !hidden_files_) new_.dirty = info_.dirty;
    return info_;
}

std::string GitProbe::memo() const
{
    const auto word = [](const std::string& text) {
        return text.empty() ? std::string("-") : text;
    };
    return word(new_.commit) + " " + word(new_.index) + " " + word(new_.checksum) + " " +
           flag_text(new_.staged) + " " + flag_text(new_.dirty);
}

}  // namespace ponk::snapshot

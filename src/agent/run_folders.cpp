// SPDX-License-Identifier: Apache-2.0
#include "agent/run_folders.hpp"

#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "os/directory.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::agent {

namespace {

// Longer than an old connection can go on unnoticed (Server::silence_limit).
constexpr std::chrono::seconds lock_patience{120};

constexpr std::uint64_t longest_note = std::uint64_t{1} << 20;

constexpr const char* mark_file = ".identity";

}  // namespace

Result<os::FileLock> RunFolders::lock(const RunId& run, std::stop_token stop) const
{
    TRY(os::make_directories(home_ / "locks"));
    auto lock = os::FileLock::take(home_ / "locks" / run.text(),
                                   os::FileLock::Kind::exclusive,
                                   after(lock_patience),
                                   std::move(stop));
    if (!lock && lock.error().kind() == ErrorKind::timeout) {
        return fail(ErrorKind::unreachable,
                    "an earlier connection is still busy with run '{}' on that machine",
                    run.text());
    }
    return lock;
}

Result<std::optional<os::FileLock>> RunFolders::try_lock(const RunId& run) const
{
    TRY(os::make_directories(home_ / "locks"));
    return os::FileLock::try_take(home_ / "locks" / run.text(), os::FileLock::Kind::exclusive);
}

Result<> RunFolders::remove(const RunId& run) const
{
    TRY(os::remove_tree(of(run).root()));
    TRY(os::remove_tree(home_ / "notes" / run.text()));
    ::unlink((home_ / "locks" / run.text()).c_str());
    return {};
}

std::vector<RunId> RunFolders::all() const
{
    std::vector<RunId> out;
    const auto entries = os::list_directory(home_ / "runs");
    if (!entries) return out;
    for (const auto& entry : *entries) {
        const auto id = RunId::parse(entry.name);
        if (id && entry.type == DT_DIR) out.push_back(*id);
    }
    return out;
}

Result<> RunFolders::mark(const std::string& identity) const
{
    if (is_marked(identity)) return {};
    const auto noted = os::list_directory(home_ / "notes");
    if (noted) {
        for (const auto& entry : *noted) {
            const auto id = RunId::parse(entry.name);
            if (id && !executor::is_there(of(*id).root())) return {};
        }
    }
    TRY(os::make_directories(home_ / "runs"));
    return os::replace_file(home_ / "runs" / mark_file, identity + "\n");
}

bool RunFolders::is_marked(const std::string& identity) const
{
    const auto text = os::read_file(home_ / "runs" / mark_file, 4096);
    return text && trim(*text) == identity;
}

Result<> RunFolders::note(const RunId& run, const char* name, const std::string& text) const
{
    if (find_note(run, name) == text) return {};
    const auto file = note_file(run, name);
    TRY(os::make_directories(file.parent_path()));
    return os::replace_file(file, text + "\n");
}

std::optional<std::string> RunFolders::find_note(const RunId& run, const char* name) const
{
    const auto text = os::read_file(note_file(run, name), longest_note);
    if (!text) return std::nullopt;
    return std::string(trim(*text));
}

std::optional<Digest> RunFolders::find_digest(const RunId& run, const char* name) const
{
    const auto text = find_note(run, name);
    Digest digest;
    if (!text || !parse_digest(*text, digest)) return std::nullopt;
    return digest;
}

std::int64_t RunFolders::noted_ms(const RunId& run, const char* name) const
{
    struct stat info {};
    if (::stat(note_file(run, name).c_str(), &info) != 0) return 0;
    return std::int64_t{info.st_mtim.tv_sec} * 1000;
}

}  // namespace ponk::agent

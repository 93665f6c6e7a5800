// SPDX-License-Identifier: Apache-2.0
#include "box/run_folders.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"

#include <dirent.h>
#include <unistd.h>

namespace ponk::box {

namespace {

// Longer than an old connection can go on unnoticed (Server::silence_limit).
constexpr std::chrono::seconds lock_patience{120};

}  // namespace

Result<os::FileLock> RunFolders::lock(const RunId& run, std::stop_token stop) const
{
    TRY(os::make_directories(home_ / "locks"));
    auto lock = os::FileLock::take(home_ / "locks" / run.text(),
                                   os::FileLock::Kind::exclusive,
                                   after(lock_patience),
                                   std::move(stop));
    if (!lock && lock.error().kind() == ErrorKind::timeout) {
        return fail(ErrorKind::unavailable,
                    "an earlier connection is still busy with run '{}' on that machine",
                    run.text());
    }
    return lock;
}

Result<> RunFolders::remove(const RunId& run) const
{
    TRY(os::remove_tree(of(run)));
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

Result<> RunFolders::write_digest(const Path& directory, const char* name, const Digest& digest)
{
    if (read_digest(directory, name) == digest) return {};
    return os::replace_file(directory / name, digest.text() + "\n");
}

std::optional<Digest> RunFolders::read_digest(const Path& directory, const char* name)
{
    const auto text = os::read_file(directory / name, 4096);
    Digest digest;
    if (!text || !parse_digest(trim(*text), digest)) return std::nullopt;
    return digest;
}

}  // namespace ponk::box

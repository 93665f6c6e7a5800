// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/output_names.hpp"

#include "os/directory.hpp"
#include "os/tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

using snapshot::EntryKind;
using snapshot::ManifestEntry;

using ByInode = std::map<std::uint64_t, const ManifestEntry*>;

// Makes the folder's like; remembers which file stands for which entry.
Result<ByInode> make_likeness(const snapshot::Manifest& manifest, int root)
{
    ByInode files;
    for (const auto& entry : manifest.entries()) {
        if (entry.kind == EntryKind::folder) {
            if (::mkdirat(root, entry.path.c_str(), 0700) != 0)
                return fail_errno(errno, "make {}", os::in_quotes(entry.path));
        } else if (entry.kind == EntryKind::link) {
            if (::symlinkat(entry.target.c_str(), root, entry.path.c_str()) != 0)
                return fail_errno(errno, "make {}", os::in_quotes(entry.path));
        } else {
            const auto file =
                TRY(os::open_beneath(root, entry.path, O_WRONLY | O_CREAT | O_EXCL, 0600));
            os::FileStatus status;
            if (const int failed = os::status_of(file.get(), status); failed != 0)
                return fail_errno(failed, "check {}", os::in_quotes(entry.path));
            files.emplace(status.inode, &entry);
        }
    }
    return files;
}

// Reads back what the folder looks like now.
class Reader {
public:
    Reader(Path root, const ByInode& files) : root_(std::move(root)), files_(files) {}

    Result<> read(const std::string& folder)
    {
        for (const auto& found : TRY(os::list_directory(root_ / folder))) {
            ManifestEntry entry;
            entry.path = folder.empty() ? found.name : folder + "/" + found.name;
            const auto path = root_ / entry.path;
            if (found.type == DT_DIR) {
                entry.kind = EntryKind::folder;
                entries.push_back(entry);
                TRY(read(entry.path));
            } else if (found.type == DT_LNK) {
                char target[PATH_MAX];
                const auto size = ::readlink(path.c_str(), target, sizeof target);
                if (size < 0) return fail_errno(errno, "read the link {}", os::in_quotes(path));
                entry.kind = EntryKind::link;
                entry.target.assign(target, static_cast<std::size_t>(size));
                entries.push_back(entry);
            } else {
                os::FileStatus status;
                if (const int failed = os::status_at(AT_FDCWD, path.c_str(), status); failed != 0)
                    return fail_errno(failed, "check {}", os::in_quotes(path));
                const auto known = files_.find(status.inode);
                if (known == files_.end()) continue;
                auto same = *known->second;
                same.path = entry.path;
                entries.push_back(std::move(same));
            }
        }
        return {};
    }

    std::vector<ManifestEntry> entries;

private:
    Path root_;
    const ByInode& files_;
};

}  // namespace

Result<snapshot::Manifest> rename_entries(const snapshot::Manifest& manifest,
                                          const RunDirectory& directory,
                                          const BeforeStoring& before)
{
    const auto folder = directory.root() / "outputs.names";
    TRY(os::remove_tree(folder));
    TRY(os::make_directories(folder));
    auto renamed = [&]() -> Result<snapshot::Manifest> {
        const auto root = TRY(os::open_file(folder, O_RDONLY | O_DIRECTORY));
        const auto files = TRY(make_likeness(manifest, root.get()));
        TRY(before(folder));
        Reader reader(folder, files);
        TRY(reader.read(""));
        return snapshot::Manifest::from_entries(std::move(reader.entries));
    }();
    TRY(os::remove_tree(folder));
    return renamed;
}

}  // namespace ponk::executor

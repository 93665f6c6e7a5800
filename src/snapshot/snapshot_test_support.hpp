// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "os/directory.hpp"
#include "os/file.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/object_store.hpp"
#include "snapshot/take_snapshot.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

// For the tests of this module: a private folder with a project, a store and a cache in it.
namespace ponk::snapshot {

inline void must(const Result<>& result)
{
    ASSERT_TRUE(result) << result.error().message();
}

inline std::vector<std::string> paths_of(const ObjectStore& store, const Digest& id)
{
    std::vector<std::string> paths;
    const auto manifest = store.read_manifest(id).value();
    for (const auto& entry : manifest.entries())
        paths.push_back(entry.path);
    return paths;
}

// Objects are read-only; damage comes from below.
inline void overwrite(const os::Path& path, std::string_view bytes)
{
    ::chmod(path.c_str(), 0600);
    const auto file = os::open_file(path, O_WRONLY | O_TRUNC);
    ASSERT_TRUE(file);
    must(os::write_all(file->get(), bytes));
}

// In memory where possible: these tests flush files thousands of times.
inline os::Path fast_folder()
{
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

class SnapshotTest : public testing::Test {
protected:
    SnapshotTest()
        : folder_(*os::make_temporary_directory(fast_folder(), "ponk-snapshot-")),
          project_(folder_ / "project"), cache_(folder_ / "cache"),
          store_(*ObjectStore::open(folder_ / "store"))
    {
        static_cast<void>(os::make_directories(project_));
    }
    ~SnapshotTest() override { static_cast<void>(os::remove_tree(folder_)); }

    void write(const os::Path& path, std::string_view bytes)
    {
        must(os::make_directories((project_ / path).parent_path()));
        const auto file = os::open_file(project_ / path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        ASSERT_TRUE(file) << file.error().message();
        must(os::write_all(file->get(), bytes));
    }

    // Makes the times of everything in the project old enough for the stat cache to trust them.
    void age()
    {
        const timespec old[2] = {{1'600'000'000, 123}, {1'600'000'000, 123}};
        for (const auto& entry : std::filesystem::recursive_directory_iterator(project_))
            ::utimensat(AT_FDCWD, entry.path().c_str(), old, AT_SYMLINK_NOFOLLOW);
        ::utimensat(AT_FDCWD, project_.c_str(), old, 0);
        ::usleep(60'000);  // ctime cannot be set: let it become past
    }

    [[nodiscard]] SnapshotOptions options() const
    {
        SnapshotOptions options;
        options.directory = project_;
        options.cache_file = cache_;
        options.git = SnapshotOptions::Git::skip;
        return options;
    }

    // The id, or a failed test.
    Digest take() { return take(options()); }
    Digest take(const SnapshotOptions& options)
    {
        const auto report = take_snapshot(store_, options);
        EXPECT_TRUE(report) << report.error().message();
        return report ? report->id : Digest{};
    }

    os::Path object_path(const Digest& digest) const
    {
        return store_.root() / "objects" / object_name(digest);
    }

    os::Path folder_;
    os::Path project_;
    os::Path cache_;
    ObjectStore store_;
};

// Path to "type:contents", for comparing trees.
inline std::map<std::string, std::string> tree_of(const os::Path& root)
{
    std::map<std::string, std::string> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        const auto name = entry.path().lexically_relative(root).native();
        struct stat info {};
        ::lstat(entry.path().c_str(), &info);
        if (S_ISDIR(info.st_mode)) {
            out[name] = "folder";
        } else if (S_ISLNK(info.st_mode)) {
            out[name] = "link:" + std::filesystem::read_symlink(entry.path()).native();
        } else {
            out[name] = ((info.st_mode & 0100U) != 0 ? "program:" : "file:") +
                        os::read_file(entry.path()).value();
        }
    }
    return out;
}

}  // namespace ponk::snapshot

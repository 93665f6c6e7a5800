// SPDX-License-Identifier: Apache-2.0
#include "snapshot/garbage.hpp"
#include "snapshot/snapshot_test_support.hpp"
#include "snapshot/take_snapshot.hpp"

#include <rapidcheck.h>

namespace ponk::snapshot {
namespace {

using ChangedTree = SnapshotTest;

TEST_F(ChangedTree, ASecondOneOfAnUnchangedTreeReadsNothing)
{
    for (int i = 0; i < 600; ++i)
        write("d" + std::to_string(i % 7) + "/f" + std::to_string(i), "x");
    age();
    const auto first = take_snapshot(store_, options());

    const auto second = take_snapshot(store_, options());

    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->files_read, 600U);
    EXPECT_EQ(second->files_read, 0U);
    EXPECT_EQ(second->objects_added, 0U);
    EXPECT_EQ(second->id, first->id);
    EXPECT_EQ(second->files, 600U);
}

TEST_F(ChangedTree, SeesEveryKindOfChange)
{
    write("same", "1");
    write("edited", "1");
    write("removed", "1");
    write("renamed", "1");
    write("made-executable", "1");
    write("becomes-folder", "1");
    std::filesystem::create_symlink("same", project_ / "link");
    age();
    static_cast<void>(take());

    write("edited", "2");
    write("added/here", "1");
    ::unlink((project_ / "removed").c_str());
    std::filesystem::rename(project_ / "renamed", project_ / "new-name");
    ::chmod((project_ / "made-executable").c_str(), 0755);
    ::unlink((project_ / "becomes-folder").c_str());
    write("becomes-folder/x", "1");
    ::unlink((project_ / "link").c_str());
    std::filesystem::create_symlink("edited", project_ / "link");
    const auto with_cache = take();
    ::unlink(cache_.c_str());
    const auto without = take();

    EXPECT_EQ(with_cache, without);
    const auto manifest = store_.read_manifest(with_cache).value();
    EXPECT_EQ(manifest.find("edited")->digest, sha256("2"));
    EXPECT_EQ(manifest.find("removed"), nullptr);
    EXPECT_EQ(manifest.find("link")->target, "edited");
}

TEST_F(ChangedTree, AChangeThatKeepsSizeAndTimeIsSeen)
{
    write("file", "old");
    age();
    const auto first = take();
    struct stat before {};
    ::stat((project_ / "file").c_str(), &before);
    write("file", "new");
    const timespec times[2] = {before.st_atim, before.st_mtim};
    ::utimensat(AT_FDCWD, (project_ / "file").c_str(), times, 0);  // mtime as it was; ctime tells

    EXPECT_NE(take(), first);
}

TEST_F(ChangedTree, AChangeRightAfterIsSeenThoughTheClockIsCoarse)
{
    for (int i = 0; i < 60; ++i) {
        write("file", "a" + std::to_string(i % 10));
        const auto first = take();
        write("file", "b" + std::to_string(i % 10));
        ASSERT_NE(take(), first) << "in round " << i;
    }
}

TEST_F(ChangedTree, RandomEditsGiveTheSameIdWithAndWithoutCache)
{
    EXPECT_TRUE(rc::check([this] {
        const auto edits = *rc::gen::resize(
            8, rc::gen::arbitrary<std::vector<std::pair<unsigned char, std::string>>>());
        for (const auto& [where, what] : edits) {
            const auto name = "f" + std::to_string(where % 5);
            if (where % 7 == 0) {
                ::unlink((project_ / name).c_str());
            } else {
                write((where % 2 != 0 ? "d/" : "") + name, what);
            }
            const auto cached = take();
            auto plain = options();
            plain.cache_file.clear();
            RC_ASSERT(cached == take(plain));
        }
    }));
}

TEST_F(ChangedTree, NewIgnoreRulesCountAtOnce)
{
    write("keep", "1");
    write("other", "1");
    age();
    const auto all = take();
    auto fewer = options();
    fewer.ignore.fingerprint = "other";
    fewer.ignore.ignored = [](std::string_view path, bool) { return path == "other"; };

    EXPECT_EQ(paths_of(store_, take(fewer)), std::vector<std::string>{"keep"});
    EXPECT_EQ(take(), all);
}

class ChangingFile : public SnapshotTest {
protected:
    // Options under which the file grows while it is being read, `times` times.
    SnapshotOptions growing(int times)
    {
        write("log", std::string(9 << 20, 'x'));
        auto options = this->options();
        options.threads = 1;
        options.attempts = 2;
        options.retry_pause = std::chrono::milliseconds(60);  // longer than progress is silent
        options.on_progress = [this, times](const Progress& progress) mutable {
            if (progress.bytes ==
                0) {  // not reading yet: have the next call come at the first chunk
                ::usleep(60'000);
                return;
            }
            if (times-- <= 0) return;
            const auto file = os::open_file(project_ / "log", O_WRONLY | O_APPEND);
            static_cast<void>(os::write_all(file->get(), "y"));
        };
        return options;
    }
};

TEST_F(ChangingFile, IsReadAgain)
{
    const auto report = take_snapshot(store_, growing(1));

    ASSERT_TRUE(report) << report.error().message();
    const auto manifest = store_.read_manifest(report->id).value();
    EXPECT_EQ(manifest.find("log")->size, (9U << 20) + 1);
    EXPECT_EQ(read_file(store_, manifest, "log", 9 << 20, 10).value(), "y");
}

TEST_F(ChangingFile, IsRefusedByNameWhenItGoesOn)
{
    const auto report = take_snapshot(store_, growing(1000));

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind(), ErrorKind::conflict);
    EXPECT_NE(report.error().message().find("'log' changes while it is being read"),
              std::string::npos);
    EXPECT_NE(report.error().hint().find(".amlignore"), std::string::npos);
    EXPECT_EQ(scrub(store_)->damaged.size(), 0U);
}

TEST_F(ChangedTree, WhatIsGoneFromTheStoreIsStoredAgain)
{
    write("a", "1");
    write("b", "2");
    age();
    const auto id = take();
    ::unlink(object_path(sha256("1")).c_str());

    EXPECT_FALSE(materialise(store_, id, folder_ / "copy"));  // notices the loss
    EXPECT_EQ(take(), id);
    EXPECT_TRUE(materialise(store_, id, folder_ / "copy"));
}

TEST_F(ChangedTree, ADamagedCacheIsOnlySlow)
{
    write("a", "1");
    age();
    const auto id = take();
    auto bytes = os::read_file(cache_).value();
    for (const std::size_t cut : {bytes.size() - 1, bytes.size() / 2, std::size_t{0}}) {
        must(os::replace_file(cache_, std::string_view(bytes).substr(0, cut)));
        EXPECT_EQ(take(), id);
    }
}

}  // namespace
}  // namespace ponk::snapshot

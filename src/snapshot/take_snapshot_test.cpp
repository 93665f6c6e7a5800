// SPDX-License-Identifier: Apache-2.0
#include "snapshot/garbage.hpp"
#include "snapshot/snapshot_test_support.hpp"
#include "snapshot/take_snapshot.hpp"

#include <rapidcheck.h>

#include <atomic>

namespace ponk::snapshot {
namespace {

using TakeSnapshot = SnapshotTest;

std::vector<std::string> paths_of(const ObjectStore& store, const Digest& id)
{
    std::vector<std::string> paths;
    const auto manifest = store.read_manifest(id).value();
    for (const auto& entry : manifest.entries())
        paths.push_back(entry.path);
    return paths;
}

TEST_F(TakeSnapshot, HoldsEverythingWithItsKind)
{
    write("train.py", "print('x')");
    write("run.sh", "#!/bin/sh\n");
    ::chmod((project_ / "run.sh").c_str(), 0755);
    write("src/deep/module.py", "pass");
    must(os::make_directories(project_ / "empty"));
    std::filesystem::create_symlink("src/deep/module.py", project_ / "link");

    const auto id = take();

    const auto manifest = store_.read_manifest(id).value();
    EXPECT_EQ(manifest.find("train.py")->kind, EntryKind::file);
    EXPECT_EQ(manifest.find("run.sh")->kind, EntryKind::executable);
    EXPECT_EQ(manifest.find("empty")->kind, EntryKind::folder);
    EXPECT_EQ(manifest.find("link")->target, "src/deep/module.py");
    EXPECT_EQ(store_.read(manifest.find("src/deep/module.py")->digest).value(), "pass");
}

TEST_F(TakeSnapshot, LeavesOutWhatHasALongerPathThanAnybodyCanOpen)
{
    write("outputs/planted.sh", "echo");
    os::Fd at(::open((project_ / "outputs").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(200, 'd');
    for (int depth = 0; depth < 40; ++depth) {
        ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
        at = os::Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

    const auto report = take_snapshot(store_, options());

    ASSERT_TRUE(report) << report.error().message();
    const auto paths = paths_of(store_, report->id);
    EXPECT_NE(std::find(paths.begin(), paths.end(), "outputs/planted.sh"), paths.end());
    EXPECT_GT(paths.size(), 10U);
    for (const auto& path : paths)
        EXPECT_LE(path.size(), 3584U);
    ASSERT_EQ(report->notices.size(), 1U);
    EXPECT_LT(report->notices.front().size(), 200U);
    EXPECT_TRUE(materialise(store_, report->id, folder_ / "again"));
}

TEST_F(TakeSnapshot, EqualTreesHaveEqualIds)
{
    write("a/b", "1");
    write("c", "2");
    const auto first = take();
    std::filesystem::rename(project_, folder_ / "other");
    project_ = folder_ / "other";
    cache_ = folder_ / "other-cache";

    EXPECT_EQ(take(), first);
}

TEST_F(TakeSnapshot, ASecondOneOfAnUnchangedTreeReadsNothing)
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

TEST_F(TakeSnapshot, SeesEveryKindOfChange)
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

TEST_F(TakeSnapshot, AChangeThatKeepsSizeAndTimeIsSeen)
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

TEST_F(TakeSnapshot, AChangeRightAfterIsSeenThoughTheClockIsCoarse)
{
    for (int i = 0; i < 60; ++i) {
        write("file", "a" + std::to_string(i % 10));
        const auto first = take();
        write("file", "b" + std::to_string(i % 10));
        ASSERT_NE(take(), first) << "in round " << i;
    }
}

TEST_F(TakeSnapshot, RandomEditsGiveTheSameIdWithAndWithoutCache)
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

TEST_F(TakeSnapshot, LeavesOutWhatIsIgnoredAndAsksNotBelow)
{
    write("keep", "1");
    write("data/huge", "1");
    write("data/deeper/huge", "1");
    auto with_rules = options();
    std::atomic<int> asked_below{0};
    with_rules.ignore.fingerprint = "data";
    with_rules.ignore.ignored = [&](std::string_view path, bool is_folder) {
        if (path.starts_with("data/")) ++asked_below;
        return is_folder && path == "data";
    };

    const auto id = take(with_rules);

    EXPECT_EQ(paths_of(store_, id), std::vector<std::string>{"keep"});
    EXPECT_EQ(asked_below, 0);
}

TEST_F(TakeSnapshot, NewIgnoreRulesCountAtOnce)
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

TEST_F(TakeSnapshot, NamesOfAnyBytesSurvive)
{
    const std::vector<std::string> names = {
        " ", "\n", "a\tb", "\xff\xfe", "'\"", "\\x41", "-rf", "caf\xc3\xa9", std::string(255, 'n')};
    for (const auto& name : names)
        write(name, name);

    const auto id = take();
    const auto made = materialise(store_, id, folder_ / "copy");

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(tree_of(folder_ / "copy"), tree_of(project_));
}

TEST_F(TakeSnapshot, TreesDeeperThanPathMaxAreHeldAndRecreated)
{
    const std::string part(200, 'd');
    os::Fd at = *os::open_file(project_, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 30; ++i) {
        ASSERT_EQ(::mkdirat(at.get(), part.c_str(), 0755), 0);
        at.reset(::openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    const os::Fd file(::openat(at.get(), "leaf", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    must(os::write_all(file.get(), "deep"));

    const auto id = take();
    const auto made = materialise(store_, id, folder_ / "copy");

    ASSERT_TRUE(made) << made.error().message();
    project_ = folder_ / "copy";
    cache_.clear();
    EXPECT_EQ(take(), id);
}

TEST_F(TakeSnapshot, SocketsAndPipesAreLeftOutWithANotice)
{
    write("keep", "1");
    ::mkfifo((project_ / "pipe").c_str(), 0600);

    const auto report = take_snapshot(store_, options());

    ASSERT_TRUE(report);
    EXPECT_EQ(paths_of(store_, report->id), std::vector<std::string>{"keep"});
    EXPECT_EQ(report->notices, std::vector<std::string>{"'pipe' is a named pipe and was left out"});
}

TEST_F(TakeSnapshot, ALinkOutsideIsKeptWithANoticeAndNeverFollowed)
{
    must(os::make_directories(folder_ / "outside"));
    must(os::replace_file(folder_ / "outside" / "secret", "s"));
    std::filesystem::create_symlink("../outside", project_ / "data");
    std::filesystem::create_symlink("/etc/hostname", project_ / "host");

    const auto report = take_snapshot(store_, options());

    ASSERT_TRUE(report);
    EXPECT_EQ(paths_of(store_, report->id), (std::vector<std::string>{"data", "host"}));
    EXPECT_EQ(report->files, 0U);
    ASSERT_EQ(report->notices.size(), 2U);
    EXPECT_NE(report->notices[0].find("'data' is a link to '../outside'"), std::string::npos);
}

TEST_F(TakeSnapshot, AnUnreadableFileIsNamedWithTheWayOut)
{
    if (::geteuid() == 0) GTEST_SKIP() << "root reads everything; see the program test";
    write("sub/secret", "x");
    ::chmod((project_ / "sub/secret").c_str(), 0);

    const auto report = take_snapshot(store_, options());

    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message().find("'sub/secret'"), std::string::npos);
    EXPECT_NE(report.error().hint().find(".amlignore"), std::string::npos);
}

TEST_F(TakeSnapshot, AMissingFolderIsNamed)
{
    auto wrong = options();
    wrong.directory = folder_ / "none";

    const auto report = take_snapshot(store_, wrong);

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind(), ErrorKind::not_found);
    EXPECT_NE(report.error().message().find("none"), std::string::npos);
}

TEST_F(TakeSnapshot, LargeFilesAreChunkedAndShareWhatIsEqual)
{
    auto bytes = random_bytes(13 << 20);
    write("large", bytes);
    const auto first = take_snapshot(store_, options());
    bytes[6 << 20] = static_cast<char>(bytes[6 << 20] + 1);
    write("large", bytes);

    const auto second = take_snapshot(store_, options());

    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->objects_added, 5U);   // four chunks and the manifest
    EXPECT_EQ(second->objects_added, 2U);  // one chunk and the manifest
    const auto manifest = store_.read_manifest(second->id).value();
    EXPECT_EQ(read_file(store_, manifest, "large", (4 << 20) - 5, 3 << 20).value(),
              bytes.substr((4 << 20) - 5, 3 << 20));
    EXPECT_EQ(read_file(store_, manifest, "large", 13 << 20, 1).value(), "");
    std::string streamed;
    must(stream_file(store_, manifest, "large", [&](std::string_view piece) -> Result<> {
        streamed += piece;
        return {};
    }));
    EXPECT_EQ(streamed, bytes);
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

TEST_F(TakeSnapshot, WhatIsGoneFromTheStoreIsStoredAgain)
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

TEST_F(TakeSnapshot, ADamagedCacheIsOnlySlow)
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

TEST_F(TakeSnapshot, StopsWhenAsked)
{
    for (int i = 0; i < 50; ++i)
        write("f" + std::to_string(i), "x");
    std::stop_source source;
    source.request_stop();
    auto stopped = options();
    stopped.stop = source.get_token();

    const auto report = take_snapshot(store_, stopped);

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind(), ErrorKind::cancelled);
}

TEST_F(TakeSnapshot, OneThreadGivesTheSameAsMany)
{
    for (int i = 0; i < 700; ++i)
        write("d" + std::to_string(i % 3) + "/f" + std::to_string(i), std::to_string(i));
    auto single = options();
    single.threads = 1;
    single.cache_file.clear();
    auto many = single;
    many.threads = 8;

    EXPECT_EQ(take(single), take(many));
}

TEST_F(TakeSnapshot, FinishedOutputsBecomeObjectsByHardLink)
{
    const auto large = random_bytes(9 << 20);
    write("model.bin", large);
    write("metrics/loss.csv", "1,2");

    const auto report = store_tree(store_, project_);

    ASSERT_TRUE(report) << report.error().message();
    struct stat info {};
    ::stat((project_ / "model.bin").c_str(), &info);
    EXPECT_EQ(info.st_nlink, 2U);
    EXPECT_EQ(info.st_mode & 0222U, 0U);
    const auto manifest = store_.read_manifest(report->id).value();
    EXPECT_EQ(read_file(store_, manifest, "model.bin", 8 << 20, 100).value(),
              large.substr(8 << 20, 100));
    const auto made = materialise(store_, report->id, folder_ / "copy");
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(os::read_file(folder_ / "copy/model.bin").value(), large);
    ::stat((folder_ / "copy/model.bin").c_str(), &info);
    EXPECT_EQ(info.st_nlink, 1U);
}

TEST_F(TakeSnapshot, AnOutputStillOpenForWritingIsCopied)
{
    write("open.bin", "so far");
    const auto writer = os::open_file(project_ / "open.bin", O_WRONLY | O_APPEND);

    const auto report = store_tree(store_, project_);
    must(os::write_all(writer->get(), " and more"));

    ASSERT_TRUE(report) << report.error().message();
    const auto manifest = store_.read_manifest(report->id).value();
    EXPECT_EQ(read_file(store_, manifest, "open.bin", 0, 100).value(), "so far");
}

}  // namespace
}  // namespace ponk::snapshot

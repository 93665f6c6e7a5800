// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_test_support.hpp"
#include "snapshot/take_snapshot.hpp"

#include <atomic>

namespace ponk::snapshot {
namespace {

using TakeSnapshot = SnapshotTest;

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

}  // namespace
}  // namespace ponk::snapshot

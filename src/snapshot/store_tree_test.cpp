// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_test_support.hpp"
#include "snapshot/take_snapshot.hpp"

namespace ponk::snapshot {
namespace {

using StoreTree = SnapshotTest;

TEST_F(StoreTree, FinishedOutputsBecomeObjectsByHardLink)
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

TEST_F(StoreTree, AnOutputStillOpenForWritingIsCopied)
{
    write("open.bin", "so far");
    const auto writer = os::open_file(project_ / "open.bin", O_WRONLY | O_APPEND);

    const auto report = store_tree(store_, project_);
    must(os::write_all(writer->get(), " and more"));

    ASSERT_TRUE(report) << report.error().message();
    const auto manifest = store_.read_manifest(report->id).value();
    EXPECT_EQ(read_file(store_, manifest, "open.bin", 0, 100).value(), "so far");
}

TEST_F(StoreTree, HolesOfALargeFileAreNotRead)
{
    write("sparse.bin", "begin");
    ASSERT_EQ(::truncate((project_ / "sparse.bin").c_str(), off_t{64} << 30), 0);

    const auto report = store_tree(store_, project_);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_LE(report->objects_added, 3U);
    EXPECT_LE(report->bytes_read, chunk_size);
    const auto manifest = store_.read_manifest(report->id).value();
    EXPECT_EQ(read_file(store_, manifest, "sparse.bin", 0, 5).value(), "begin");
    EXPECT_EQ(read_file(store_, manifest, "sparse.bin", std::uint64_t{63} << 30, 3).value(),
              std::string(3, '\0'));
    struct stat info {};
    ::stat((project_ / "sparse.bin").c_str(), &info);
    EXPECT_EQ(info.st_nlink, 1U) << "an object of that size would be hashed as a whole";
}

TEST_F(StoreTree, AHugeHoleIsLeftOutByName)
{
    write("model.bin", "model");
    write("huge.bin", "");
    if (::truncate((project_ / "huge.bin").c_str(), off_t{4} << 40) != 0)
        GTEST_SKIP() << "the file system has no files of 4 TiB";

    const auto report = store_tree(store_, project_);

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->files, 1U);
    ASSERT_EQ(report->notices.size(), 1U);
    EXPECT_THAT(report->notices[0], testing::HasSubstr("'huge.bin' has 4"));
    SnapshotOptions options;
    options.directory = project_;
    const auto taken = take_snapshot(store_, options);
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message(), testing::HasSubstr("'huge.bin'"));
    EXPECT_THAT(taken.error().hint(), testing::HasSubstr(".amlignore"));
}

TEST_F(StoreTree, AStopEndsTheScanAtTheNextName)
{
    for (int i = 0; i < 100; ++i)
        write(std::to_string(i), "");
    std::stop_source stop;
    int asked = 0;
    SnapshotOptions options;
    options.directory = project_;
    options.threads = 1;
    options.stop = stop.get_token();
    options.ignore.ignored = [&](std::string_view, bool) {
        if (++asked == 3) stop.request_stop();
        return false;
    };

    const auto taken = take_snapshot(store_, options);

    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().kind(), ErrorKind::cancelled);
    EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace ponk::snapshot

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

}  // namespace
}  // namespace ponk::snapshot

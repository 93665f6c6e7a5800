// SPDX-License-Identifier: Apache-2.0
// Large trees, large files, a full disk, other users: slow or needing root, so not unit tests.
#include "base/hash.hpp"
#include "snapshot/garbage.hpp"
#include "snapshot/snapshot_test_support.hpp"

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace ponk::snapshot {
namespace {

using Large = SnapshotTest;

TEST_F(Large, AHundredThousandTinyFiles)
{
    for (int d = 0; d < 100; ++d) {
        const auto folder = project_ / ("d" + std::to_string(d));
        must(os::make_directories(folder));
        for (int f = 0; f < 1000; ++f) {
            const auto file = os::open_file(folder / std::to_string(f), O_WRONLY | O_CREAT);
            must(os::write_all(file->get(), std::to_string(d * 1000 + f)));
        }
    }
    age();

    const auto first = take_snapshot(store_, options());
    const auto second = take_snapshot(store_, options());
    const auto made = materialise(store_, first->id, folder_ / "copy");

    ASSERT_TRUE(first && second) << first.error().message();
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(first->files, 100'000U);
    EXPECT_EQ(second->files_read, 0U);
    EXPECT_EQ(made->files, 100'000U);
    auto copy = options();
    copy.directory = folder_ / "copy";
    copy.cache_file.clear();
    EXPECT_EQ(take(copy), first->id);
}

TEST_F(Large, AFileOfFiveGigabytes)
{
    const auto file = os::open_file(project_ / "sparse", O_WRONLY | O_CREAT, 0644);
    constexpr off_t size = off_t{5} << 30;
    ASSERT_EQ(::ftruncate(file->get(), size), 0);
    ASSERT_EQ(::pwrite(file->get(), "end", 3, size - 3), 3);

    const auto report = take_snapshot(store_, options());

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->bytes, std::uint64_t{5} << 30);
    EXPECT_EQ(report->objects_added, 3U);  // zeros, the last chunk, the manifest
    const auto manifest = store_.read_manifest(report->id).value();
    EXPECT_EQ(
        read_file(store_, manifest, "sparse", static_cast<std::uint64_t>(size) - 3, 9).value(),
        "end");
    ASSERT_TRUE(materialise(store_, report->id, folder_ / "copy"));
    EXPECT_EQ(std::filesystem::file_size(folder_ / "copy/sparse"), std::uint64_t{5} << 30);
}

// A store on a file system of its own, of a given size.
class SmallDisk : public SnapshotTest {
protected:
    void SetUp() override
    {
        must(os::make_directories(disk_));
        if (::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=6m") != 0)
            GTEST_SKIP() << "mounting a file system needs root";
        mounted_ = true;
    }
    ~SmallDisk() override
    {
        if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
    }
    os::Path disk_ = folder_ / "disk";
    bool mounted_ = false;
};

TEST_F(SmallDisk, FullMeansAClearErrorAndNothingHalfPublished)
{
    const auto small = ObjectStore::open(disk_ / "store").value();
    for (int i = 0; i < 40; ++i)
        write("f" + std::to_string(i), random_bytes(300'000));

    const auto report = take_snapshot(small, options());

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind(), ErrorKind::unavailable);
    EXPECT_NE(report.error().hint().find("disk is full"), std::string::npos);
    EXPECT_TRUE(scrub(small)->damaged.empty());
    // With less to store it works: nothing hidden holds the space.
    for (int i = 3; i < 40; ++i)
        ::unlink((project_ / ("f" + std::to_string(i))).c_str());
    EXPECT_TRUE(os::remove_tree(disk_ / "store/objects"));
    const auto again = take_snapshot(ObjectStore::open(disk_ / "store").value(), options());
    EXPECT_TRUE(again) << again.error().message();
}

TEST_F(SmallDisk, MaterialisingOntoAFullDiskLeavesNothing)
{
    write("large", random_bytes(20 << 20));
    const auto id = take();

    const auto made = materialise(store_, id, disk_ / "copy");

    ASSERT_FALSE(made);
    EXPECT_NE(made.error().hint().find("disk is full"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(disk_ / "copy"));
}

TEST_F(SmallDisk, OutputsOnAnotherFileSystemAreCopied)
{
    must(os::make_directories(disk_ / "outputs"));
    must(os::replace_file(disk_ / "outputs/model", "weights"));

    const auto report = store_tree(store_, disk_ / "outputs");

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(store_.read(sha256("weights")).value(), "weights");
    struct stat info {};
    ::stat((disk_ / "outputs/model").c_str(), &info);
    EXPECT_EQ(info.st_nlink, 1U);
}

// What is done in the child as another user, and with few descriptors.
TEST_F(Large, AnUnreadableFileIsNamedToAUserWhoIsNotRoot)
{
    if (::geteuid() != 0) GTEST_SKIP() << "see the unit test";
    write("sub/secret", "x");
    ::chmod((project_ / "sub/secret").c_str(), 0);
    ::chmod(folder_.c_str(), 0755);
    must(os::make_directories(folder_ / "theirs", 0777));
    ::chmod((folder_ / "theirs").c_str(), 0777);
    ::chmod(project_.c_str(), 0755);
    ::chmod((project_ / "sub").c_str(), 0755);
    const auto child = ::fork();
    if (child == 0) {
        if (::setuid(65534) != 0) ::_exit(9);
        const auto store = ObjectStore::open(folder_ / "theirs/store");
        if (!store) ::_exit(8);
        auto plain = options();
        plain.cache_file.clear();
        const auto report = take_snapshot(*store, plain);
        if (report) ::_exit(7);
        const auto& error = report.error();
        ::_exit(error.message().find("'sub/secret'") != std::string::npos &&
                        error.hint().find(".amlignore") != std::string::npos
                    ? 0
                    : 6);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Large, TooFewDescriptorsAreAClearErrorOrEnough)
{
    for (int i = 0; i < 300; ++i)
        write("d" + std::to_string(i % 20) + "/f" + std::to_string(i), std::to_string(i));
    int whole = 0;
    for (const rlim_t limit : {8U, 10U, 12U, 16U, 24U, 40U, 200U}) {
        const auto child = ::fork();
        if (child == 0) {
            const rlimit few{limit, limit};
            ::setrlimit(RLIMIT_NOFILE, &few);
            auto plain = options();
            plain.cache_file.clear();
            const auto report = take_snapshot(store_, plain);
            ::_exit(report ? 0 : report.error().hint().find("ulimit") != std::string::npos ? 1 : 2);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_NE(WEXITSTATUS(status), 2) << "with " << limit;
        whole += WEXITSTATUS(status) == 0 ? 1 : 0;
        EXPECT_TRUE(scrub(store_)->damaged.empty());
    }
    EXPECT_GE(whole, 2);
}

}  // namespace
}  // namespace ponk::snapshot

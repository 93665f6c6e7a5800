// SPDX-License-Identifier: Apache-2.0
// A run's copy on file systems that share blocks. Needs the right to mount, and their makers.
#include "base/hash.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "snapshot/materialise.hpp"
#include "snapshot/take_snapshot.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <memory>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

namespace ponk::snapshot {
namespace {

using namespace std::chrono_literals;

bool succeeds(std::vector<std::string> words)
{
    const auto done = os::run({.argv = std::move(words)}, after(60s), {});
    return done && done->exit.status() == 0;
}

// True when every extent of the file has more than one owner.
bool is_shared(const os::Path& path)
{
    const auto file = os::open_file(path, O_RDONLY);
    if (!file) return false;
    alignas(fiemap) char room[sizeof(fiemap) + 64 * sizeof(fiemap_extent)] = {};
    auto* map = new (room) fiemap{};
    map->fm_length = FIEMAP_MAX_OFFSET;
    map->fm_flags = FIEMAP_FLAG_SYNC;
    map->fm_extent_count = 64;
    if (::ioctl(file->get(), FS_IOC_FIEMAP, map) != 0 || map->fm_mapped_extents == 0) return false;
    for (std::uint32_t i = 0; i < map->fm_mapped_extents; ++i) {
        if ((map->fm_extents[i].fe_flags & FIEMAP_EXTENT_SHARED) == 0) return false;
    }
    return true;
}

class ReflinkTest : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override
    {
        const std::string maker = std::string("mkfs.") + GetParam();
        const auto image = (place_.path() / "image").string();
        if (!os::find_program(maker, "/usr/sbin:/sbin:/usr/bin:/bin"))
            GTEST_SKIP() << "'" << maker << "' is not installed";
        ASSERT_TRUE(os::make_directories(disk_));
        ASSERT_TRUE(succeeds({"truncate", "-s", "400M", image}));
        if (!succeeds({"/usr/sbin/" + maker, image}) ||
            !succeeds({"mount", "-o", "loop", image, disk_.string()}))
            GTEST_SKIP() << "cannot mount a file system of kind '" << GetParam() << "' here";
        mounted_ = true;
    }
    void TearDown() override
    {
        if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
    }

    os::TestFolder place_;
    os::Path disk_ = place_.path() / "disk";
    bool mounted_ = false;
};

TEST_P(ReflinkTest, ARunsCopySharesBlocksWithTheStoreAndChangesAlone)
{
    const auto noise = random_bytes(std::size_t{12} << 20);  // chunks
    const auto smaller = random_bytes(std::size_t{256} << 10);
    ASSERT_TRUE(os::make_directories(disk_ / "project"));
    ASSERT_TRUE(os::replace_file(disk_ / "project" / "large", noise));
    ASSERT_TRUE(os::replace_file(disk_ / "project" / "smaller", smaller));
    const auto store = ObjectStore::open(disk_ / "store");
    ASSERT_TRUE(store);
    SnapshotOptions options;
    options.directory = disk_ / "project";
    const auto taken = take_snapshot(*store, options);
    ASSERT_TRUE(taken) << taken.error().message();

    for (const char* name : {"first", "second"}) {
        const auto made = materialise(*store, taken->id, disk_ / name);
        ASSERT_TRUE(made) << made.error().message();
    }

    EXPECT_TRUE(is_shared(disk_ / "first" / "large"));
    EXPECT_TRUE(is_shared(disk_ / "first" / "smaller"));
    const auto file = os::open_file(disk_ / "first" / "large", O_RDWR);
    ASSERT_TRUE(file);
    ASSERT_EQ(::pwrite(file->get(), "changed", 7, 5'000'000), 7);
    EXPECT_EQ(*os::read_file(disk_ / "second" / "large"), noise);
    const auto again = materialise(*store, taken->id, disk_ / "third");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(*os::read_file(disk_ / "third" / "large"), noise);
}

INSTANTIATE_TEST_SUITE_P(FileSystems, ReflinkTest, testing::Values("xfs", "btrfs"));

}  // namespace
}  // namespace ponk::snapshot

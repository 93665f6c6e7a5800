// SPDX-License-Identifier: Apache-2.0
// A writer that is killed at any moment leaves a store in which every object is whole.
#include "base/hash.hpp"
#include "snapshot/garbage.hpp"
#include "snapshot/snapshot_test_support.hpp"

#include <csignal>
#include <random>
#include <sys/wait.h>

namespace ponk::snapshot {
namespace {

class KilledWriter : public SnapshotTest, public testing::WithParamInterface<os::UnnamedFile::Way> {
protected:
    // Takes snapshots of an ever changing project until it is killed.
    [[noreturn]] void write_for_ever()
    {
        for (unsigned round = 0;; ++round) {
            for (unsigned i = 0; i < 20; ++i) {
                write("f" + std::to_string(i), random_bytes(10 + 4000 * (i % 3)));
            }
            write("large", random_bytes(9 << 20));
            const auto report = take_snapshot(store_, options());
            if (!report) ::_exit(1);
        }
    }
};

TEST_P(KilledWriter, LeavesOnlyWholeObjects)
{
    store_ = ObjectStore::open(folder_ / "store", {GetParam()}).value();
    std::mt19937 random(7);
    for (int round = 0; round < 12; ++round) {
        const auto child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) write_for_ever();
        ::usleep(std::uniform_int_distribution<useconds_t>(0, 40'000)(random));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";

        const auto scrubbed = scrub(store_);
        ASSERT_TRUE(scrubbed) << scrubbed.error().message();
        ASSERT_TRUE(scrubbed->damaged.empty());
        // The next one, with whatever cache is there, is complete.
        const auto id = take();
        ASSERT_TRUE(materialise(store_, id, folder_ / "copy"));
        ASSERT_EQ(tree_of(folder_ / "copy"), tree_of(project_));
        must(os::remove_tree(folder_ / "copy"));
    }
    GarbageOptions all;
    all.live = []() -> Result<std::vector<Digest>> { return std::vector<Digest>(); };
    all.now_ms = std::int64_t{1} << 42;
    const auto collected = collect_garbage(store_, all);
    ASSERT_TRUE(collected) << collected.error().message();
    EXPECT_TRUE(collected->deferred_by.empty());
    const auto left = os::list_directory(store_.root() / "objects").value();
    for (const auto& entry : left)
        EXPECT_EQ(entry.name.size(), 2U) << "a leftover";
}

INSTANTIATE_TEST_SUITE_P(BothWays,
                         KilledWriter,
                         testing::Values(os::UnnamedFile::Way::unnamed,
                                         os::UnnamedFile::Way::temporary_name));

}  // namespace
}  // namespace ponk::snapshot

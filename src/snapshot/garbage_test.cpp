// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"
#include "snapshot/garbage.hpp"
#include "snapshot/lease.hpp"
#include "snapshot/snapshot_test_support.hpp"

#include <csignal>
#include <sys/wait.h>

namespace ponk::snapshot {
namespace {

using std::chrono::hours;

class Garbage : public SnapshotTest {
protected:
    static std::int64_t later(hours span)
    {
        return wall_milliseconds() + std::chrono::milliseconds(span).count();
    }
    static constexpr hours grace{15 * 24};

    Result<GarbageReport> collect(std::vector<Digest> live, std::int64_t now_ms)
    {
        GarbageOptions options;
        options.live = [live]() -> Result<std::vector<Digest>> { return live; };
        options.now_ms = now_ms;
        options.lock_patience = std::chrono::milliseconds(20);
        return collect_garbage(store_, options);
    }
};

TEST_F(Garbage, KeepsWhatIsLiveAndTrashesOldRest)
{
    write("kept", "1");
    const auto kept = take();
    write("other", "2");
    const auto lost = take();

    const auto report = collect({kept}, later(grace));

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->trashed_objects, 2U);  // "2" and its manifest
    EXPECT_EQ(report->live_objects, 2U);
    EXPECT_TRUE(materialise(store_, kept, folder_ / "copy"));
    EXPECT_FALSE(std::filesystem::exists(object_path(lost)));
}

TEST_F(Garbage, KeepsWhatIsYoung)
{
    write("a", "1");
    static_cast<void>(take());

    EXPECT_EQ(collect({}, later(hours(13 * 24)))->trashed_objects, 0U);
    EXPECT_EQ(collect({}, wall_milliseconds() - 1'000'000'000)->trashed_objects, 0U);  // clock jump
}

TEST_F(Garbage, DeletesFromTheTrashADayLater)
{
    write("a", "1");
    static_cast<void>(take());
    ASSERT_EQ(collect({}, later(grace))->trashed_objects, 2U);

    EXPECT_EQ(collect({}, later(grace + hours(23)))->deleted_objects, 0U);
    EXPECT_EQ(collect({}, later(grace + hours(25)))->deleted_objects, 2U);
    EXPECT_TRUE(os::list_directory(store_.root() / "trash")->empty());
}

TEST_F(Garbage, AReaderBringsAnObjectBackFromTheTrash)
{
    write("a", "1");
    const auto id = take();
    ASSERT_EQ(collect({}, later(grace))->trashed_objects, 2U);

    const auto made = materialise(store_, id, folder_ / "copy");

    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(std::filesystem::exists(object_path(id)));
}

TEST_F(Garbage, ASnapshotAfterwardsIsCompleteThoughTheCacheKnewEverything)
{
    write("a", "1");
    write("b", "2");
    age();
    const auto id = take();
    ASSERT_EQ(collect({}, later(grace))->trashed_objects, 3U);
    ASSERT_TRUE(collect({}, later(grace + hours(25))));

    EXPECT_EQ(take(), id);
    EXPECT_TRUE(materialise(store_, id, folder_ / "copy"));
}

TEST_F(Garbage, ALeaseKeepsEverything)
{
    write("a", "1");
    auto report = take_snapshot(store_, options());
    ASSERT_TRUE(report);

    const auto while_leased = collect({}, later(grace));

    ASSERT_TRUE(while_leased);
    EXPECT_EQ(while_leased->trashed_objects, 0U);
    ASSERT_EQ(while_leased->deferred_by.size(), 1U);
    EXPECT_NE(while_leased->deferred_by[0].find("snapshot of"), std::string::npos);
}

TEST_F(Garbage, ALeaseOfADeadProcessIsNothing)
{
    write("a", "1");
    static_cast<void>(take());
    const auto child = ::fork();
    if (child == 0) {
        const auto lease = Lease::take(store_.root(), "doomed");
        ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(os::list_directory(store_.root() / "leases")->size(), 1U);

    EXPECT_EQ(collect({}, later(grace))->trashed_objects, 2U);
    EXPECT_TRUE(os::list_directory(store_.root() / "leases")->empty());
}

TEST_F(Garbage, AFrozenWriterLosesNothing)
{
    // The objects exist from long ago; the child's snapshot relies on them and is then frozen.
    write("a", "1");
    const auto id = take();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const auto child = ::fork();
    if (child == 0) {
        const auto report = take_snapshot(store_, options());
        static_cast<void>(!::write(ready[1], "x", 1));
        ::pause();
        ::_exit(report ? 0 : 1);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::kill(child, SIGSTOP);

    const auto report = collect({}, later(grace));

    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->trashed_objects, 0U);
    EXPECT_EQ(report->deferred_by.size(), 1U);
    EXPECT_TRUE(materialise(store_, id, folder_ / "copy"));
}

TEST_F(Garbage, AWriterFrozenAtTheGateDefersTheCollection)
{
    write("a", "1");
    static_cast<void>(take());
    const auto gate = os::FileLock::try_take(lock_path(store_.root()), os::FileLock::Kind::shared);

    const auto report = collect({}, later(grace));

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->trashed_objects, 0U);
    EXPECT_EQ(report->deferred_by.size(), 1U);
}

// An object's own time of making cannot be set, so these tests live in real time.
class GarbageWithABadManifest : public Garbage {
protected:
    GarbageWithABadManifest()
    {
        if (!has_birth_times()) return;
        write("precious", "only the bad manifest names it");
        bad_ = take();
        overwrite(object_path(bad_), "damage");
        std::filesystem::remove(project_ / "precious");
    }
    void SetUp() override
    {
        if (!has_birth_times()) GTEST_SKIP() << "this file system has no times of making";
        const auto first = collect({bad_}, wall_milliseconds());
        ASSERT_TRUE(first) << first.error().message();
        ASSERT_EQ(first->unreadable.size(), 1U);
        EXPECT_EQ(first->unreadable[0].id, bad_);
        EXPECT_NE(first->unreadable[0].problem.find(bad_.text()), std::string::npos);
        ::usleep(60'000);
    }
    bool has_birth_times()
    {
        struct statx info {};
        return ::statx(AT_FDCWD, folder_.c_str(), 0, STATX_BTIME, &info) == 0 &&
               (info.stx_mask & STATX_BTIME) != 0;
    }

    Digest bad_;
};

TEST_F(GarbageWithABadManifest, WhatItMayNameIsKept)
{
    const auto report = collect({bad_}, later(grace));

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->trashed_objects, 0U);
    EXPECT_GE(report->kept_objects, 1U);
    EXPECT_TRUE(store_.contains(sha256("only the bad manifest names it")).value());
    EXPECT_EQ(noted_unreadable(store_).value(), std::vector{bad_});
}

TEST_F(GarbageWithABadManifest, WhatCameLaterIsCollected)
{
    write("later", "garbage of later");
    static_cast<void>(take());

    const auto report = collect({bad_}, later(grace));

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->trashed_objects, 2U);  // the file and its manifest
    EXPECT_FALSE(std::filesystem::exists(object_path(sha256("garbage of later"))));
    EXPECT_TRUE(store_.contains(sha256("only the bad manifest names it")).value());
}

TEST_F(GarbageWithABadManifest, WhatWasStoredAgainIsKept)
{
    const auto text = std::string("only the bad manifest names it");
    overwrite(object_path(sha256(text)), "damage");
    EXPECT_FALSE(store_.read(sha256(text)));  // into quarantine
    write("again", text);
    const auto other = take();
    std::filesystem::remove(project_ / "again");

    ASSERT_TRUE(collect({bad_}, later(grace)));

    EXPECT_TRUE(std::filesystem::exists(object_path(sha256(text))));
    EXPECT_FALSE(std::filesystem::exists(object_path(other)));
}

TEST_F(GarbageWithABadManifest, AClockThatIsBehindMakesNothingNew)
{
    ASSERT_TRUE(os::remove_tree(store_.root() / "unreadable"));
    ASSERT_TRUE(collect({bad_}, 1000));  // 1970

    EXPECT_EQ(collect({bad_}, later(grace))->trashed_objects, 0U);
}

TEST_F(GarbageWithABadManifest, AllIsCollectedAgainOnceItIsGone)
{
    const auto report = collect({}, later(grace));

    ASSERT_TRUE(report) << report.error().message();
    EXPECT_GE(report->trashed_objects, 1U);
    EXPECT_TRUE(noted_unreadable(store_)->empty());
    EXPECT_FALSE(store_.contains(sha256("unknown")).value());
}

}  // namespace
}  // namespace ponk::snapshot

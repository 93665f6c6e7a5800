// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease/lease.hpp"
#include "gpu/lease/lease_note.hpp"
#include "gpu/lease/lease_test_support.hpp"
#include "gpu/lease/lock_file.hpp"
#include "os/identity.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

namespace ponk::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Places,
                         Leases,
                         testing::Values("/dev/shm", "/var/tmp"),
                         [](const auto& place_info) {
                             return std::string(place_info.param) == "/dev/shm" ? "memory" : "disk";
                         });

TEST_P(Leases, AreGivenAndFreeAgainWhenTheyGo)
{
    {
        const auto first = take_now("2", "one");
        EXPECT_THAT(uuids(first), ElementsAre("GPU-0", "GPU-1"));
        EXPECT_FALSE(first.waiting);
        EXPECT_EQ(first.devices[1].index, 1U);
        EXPECT_EQ(folder.holder("GPU-0").value()->run, "one");
        EXPECT_FALSE(folder.holder("GPU-2").value());

        const auto second = take_now("2");
        EXPECT_THAT(uuids(second), IsEmpty());
        ASSERT_TRUE(second.waiting);
        EXPECT_EQ(second.waiting->position, 1U);
        ASSERT_EQ(second.waiting->reasons.size(), 2U);
        EXPECT_EQ(second.waiting->reasons[0],
                  fmt::format("GPU 0 (GPU-0) is leased by {} for run one since "
                              "2025-06-15T15:06:40.000Z",
                              os::user_name()));
        EXPECT_THAT(uuids(take_now("1")), ElementsAre("GPU-2"));
    }
    EXPECT_FALSE(folder.holder("GPU-0").value());
    EXPECT_THAT(uuids(take_now("all")), ElementsAre("GPU-0", "GPU-1", "GPU-2"));
    EXPECT_EQ(tickets(), 0U);
}

TEST_P(Leases, DeadProcessesLeaveNothingBehind)
{
    OtherProcess holder([&] { return take_now("all", "holder").leases.size() == 3; });
    EXPECT_FALSE(folder.holder("GPU-0").value()) << "its leases went with the block that held them";
    std::optional<LeaseFolder::Outcome> kept;
    OtherProcess keeper([&] {
        kept = take_now("all", "keeper");
        return kept->leases.size() == 3;
    });
    std::optional<Ticket> waiter;
    OtherProcess waiting([&] {
        waiter = folder.queue(selection("all"), owner("waiting")).value();
        return take(*waiter).waiting.has_value();
    });
    const auto ticket = folder.queue(selection("1"), owner("me")).value();
    EXPECT_EQ(take(ticket).waiting->position, 2U);
    EXPECT_EQ(folder.waiting()->size(), 2U);

    keeper.end();
    EXPECT_TRUE(take(ticket).waiting) << "all are free, but it is the other's turn";
    waiting.end();
    EXPECT_EQ(folder.waiting()->size(), 1U);
    EXPECT_THAT(uuids(take(ticket)), ElementsAre("GPU-0"));
    EXPECT_EQ(tickets(), 2U);

    const auto next = folder.queue(selection("1"), owner("next")).value();
    EXPECT_EQ(tickets(), 2U) << "the dead one's is swept by the next who comes";
    EXPECT_GT(next.number(), ticket.number());
}

TEST_P(Leases, LastWhileAnyProcessOfTheRunHoldsAShare)
{
    std::optional<LeaseFolder::Outcome> first;
    OtherProcess outside([&] {
        first = take_now("GPU-0", "run");
        return first->leases.size() == 1;
    });
    // As the supervisor of the run does it.
    const auto share = [&](os::Fd& file) {
        file = os::open_file(folder.path() / "GPU-0.lock", O_RDONLY).value();
        return try_lock(file.get(), LockKind::shared).value();
    };
    os::Fd second;
    OtherProcess inside([&] { return share(second); });

    outside.end();
    EXPECT_EQ(folder.holder("GPU-0").value()->run, "run");
    EXPECT_TRUE(take_now("GPU-0", "other").waiting);
    os::Fd again;
    EXPECT_TRUE(share(again));
    inside.end();
    EXPECT_TRUE(take_now("GPU-0", "other").waiting);
    again.reset();
    EXPECT_FALSE(take_now("GPU-0", "other").waiting);
}

TEST_P(Leases, DescriptorInAChildKeepsTheGpu)
{
    auto held = take_now("GPU-0");
    const int inherited = ::dup(held.leases[0].fd());
    OtherProcess child([] { return true; });
    ::close(inherited);

    held = {};

    EXPECT_TRUE(folder.holder("GPU-0").value());
    child.end();
    EXPECT_FALSE(folder.holder("GPU-0").value());
}

TEST_P(Leases, GpuWithForeignProcessesIsTaken)
{
    const auto busy = [](const Device& seen) {
        return seen.uuid == "GPU-0" ? std::vector<std::string>{"process 77 of bob computes"}
                                    : std::vector<std::string>{};
    };
    std::optional ticket = folder.queue(selection("1"), owner("a")).value();
    const auto got = folder.try_take(*ticket, owner("a"), all, busy).value();
    EXPECT_THAT(uuids(got), ElementsAre("GPU-1"));
    ticket.reset();

    const auto every = folder.queue(selection("GPU-0"), owner("b")).value();
    const auto none = folder.try_take(every, owner("b"), all, busy).value();
    ASSERT_TRUE(none.waiting);
    EXPECT_THAT(none.waiting->reasons, ElementsAre("process 77 of bob computes"));
    EXPECT_FALSE(folder.holder("GPU-0").value());
}

TEST_P(Leases, CardAndItsInstancesExcludeEachOther)
{
    all = {device("GPU-0", 0), device("MIG-1", 0, "GPU-0"), device("MIG-2", 0, "GPU-0")};
    {
        const auto part = take_now("MIG-1");
        EXPECT_EQ(part.leases.size(), 1U);
        EXPECT_THAT(uuids(take_now("1")), ElementsAre("MIG-2"));
        const auto whole = take_now("GPU-0");
        ASSERT_TRUE(whole.waiting);
        EXPECT_THAT(whole.waiting->reasons[0], HasSubstr("its part MIG-1"));
    }
    const auto whole = take_now("GPU-0");
    EXPECT_EQ(whole.leases.size(), 1U);
    EXPECT_TRUE(take_now("MIG-1").waiting);
    all.erase(all.begin());
    const auto part = take_now("MIG-1");
    ASSERT_TRUE(part.waiting) << "though the list has instances only";
    EXPECT_THAT(part.waiting->reasons[0], HasSubstr("its card"));
}

// The question for strangers comes between the look at a lock and its taking: time for another who
// does not keep to the queue.
TEST_P(Leases, GpuThatAnotherTakesMeanwhileIsNotTakenTwice)
{
    all = {device("GPU-0", 0), device("GPU-1", 1, ""), device("MIG-1", 0, "GPU-0")};
    const std::vector<std::pair<const char*, const char*>> pairs{
        {"GPU-1", "GPU-1"}, {"GPU-0", "MIG-1"}, {"MIG-1", "GPU-0"}, {"GPU-1,MIG-1", "GPU-0"}};
    for (const auto& [ours, theirs] : pairs) {
        const auto early = folder.queue(selection(theirs), owner("early")).value();
        const auto unread = fmt::format("ticket-{:018}", early.number());
        ASSERT_EQ(::truncate((folder.path() / unread).c_str(), 0), 0);
        const auto late = folder.queue(selection(ours), owner("late")).value();
        LeaseFolder::Outcome first;
        const auto meanwhile = [&](const Device&) {
            if (first.leases.empty()) first = take(early, "early");
            return std::vector<std::string>();
        };

        const auto second = folder.try_take(late, owner("late"), all, meanwhile).value();

        EXPECT_EQ(first.leases.size(), 1U) << ours;
        EXPECT_THAT(uuids(second), IsEmpty()) << ours;
        EXPECT_TRUE(second.waiting);
        EXPECT_EQ(folder.holder(theirs).value()->run, "early");
        first = {};
        for (const auto& one : all)
            EXPECT_FALSE(folder.holder(one.uuid).value()) << one.uuid;
    }
}

TEST_P(Leases, StrangeFilesInTheFolderDoNoHarm)
{
    const auto name = [](int number) { return fmt::format("ticket-{:018}", number); };
    const auto write = [&](const std::string& file, const std::string& text) {
        ASSERT_TRUE(os::publish_file(folder.path() / file, text, 0666));
    };
    write(name(3), "garbage");
    write(name(4), std::string(1'000'000, 'x'));
    write("ticket-99999999999999999999", "");
    write("ticket-abc", "");
    ASSERT_EQ(::mkfifo((folder.path() / name(5)).c_str(), 0666), 0);
    ASSERT_EQ(::symlink("/dev/zero", (folder.path() / name(6)).c_str()), 0);
    // Alive, and says nothing that can be read.
    const auto mute =
        open_lock_file(os::open_file(folder.path(), O_RDONLY)->get(), name(7)).value();
    ASSERT_TRUE(try_lock(mute.get(), LockKind::exclusive).value());
    write("GPU-0.lock", "{\"user\":");
    write("GPU-1.lock", std::string(1'000'000, '{'));

    const auto ticket = folder.queue(selection("all"), owner("me")).value();
    EXPECT_EQ(ticket.number(), 8U);
    EXPECT_EQ(folder.waiting()->size(), 1U);
    const auto got = take(ticket, "me");
    ASSERT_EQ(got.leases.size(), 3U);
    EXPECT_EQ(folder.holder("GPU-1").value()->run, "me");

    // Somebody writes over the note of a lease.
    ASSERT_EQ(::truncate((folder.path() / "GPU-1.lock").c_str(), 0), 0);
    ASSERT_TRUE(folder.holder("GPU-1").value());
    EXPECT_EQ(folder.holder("GPU-1").value()->user, "");
    EXPECT_THAT(take_now("GPU-1").waiting->reasons, ElementsAre("GPU 1 (GPU-1) is leased"));
    EXPECT_FALSE(folder.holder("../../etc/passwd"));
}

// What any user of the machine can do to a file that all may write to.
TEST_P(Leases, SpoiltLockFileIsOneGpuLess)
{
    {
        const auto made = take_now("all");
    }
    const auto lock = folder.path() / "GPU-0.lock";
    ASSERT_EQ(::link(lock.c_str(), (folder.path() / "x").c_str()), 0);
    ASSERT_EQ(::unlink((folder.path() / "GPU-1.lock").c_str()), 0);
    ASSERT_EQ(::mkdir((folder.path() / "GPU-1.lock").c_str(), 0755), 0);

    EXPECT_THAT(uuids(take_now("1")), ElementsAre("GPU-2"));
    const auto none = take_now("GPU-0,GPU-1");
    ASSERT_TRUE(none.waiting);
    EXPECT_THAT(none.waiting->reasons,
                ElementsAre(HasSubstr("GPU 0 (GPU-0) cannot be leased: the lock file "
                                      "'GPU-0.lock' is a file with several names"),
                            HasSubstr("GPU 1 (GPU-1) cannot be leased")));
    ASSERT_EQ(::unlink((folder.path() / "x").c_str()), 0);
    EXPECT_EQ(take_now("GPU-0").leases.size(), 1U);
}

TEST_P(Leases, HoldOnWhenTheirFileIsRemoved)
{
    auto held = take_now("GPU-0", "first");
    ASSERT_EQ(::unlink((folder.path() / "GPU-0.lock").c_str()), 0);
    EXPECT_TRUE(folder.renew(held.leases[0], owner("first")).value());
    EXPECT_TRUE(take_now("GPU-0", "next").waiting);
    EXPECT_EQ(folder.holder("GPU-0").value()->run, "first");

    ASSERT_EQ(::unlink((folder.path() / "GPU-0.lock").c_str()), 0);
    const auto thief = take_now("GPU-0", "next");
    EXPECT_EQ(thief.leases.size(), 1U);
    EXPECT_FALSE(folder.renew(held.leases[0], owner("first")).value());
}

TEST_P(Leases, HolderWhoseNoteIsOfADeadProcessIsNotNamedAsTheOne)
{
    const auto ticket = folder.queue(selection("GPU-0"), owner("gone")).value();
    auto gone = owner("gone");
    gone.pid = 0x3fffffff;
    const auto held = folder.try_take(ticket, gone, all, {}).value();
    ASSERT_EQ(held.leases.size(), 1U);
    EXPECT_FALSE(folder.holder("GPU-0").value()->is_present);
    EXPECT_THAT(take_now("GPU-0").waiting->reasons[0], HasSubstr("its last known user was"));
}

// By a user to whom /proc shows nobody else's processes, as with 'hidepid'. (That option itself
// would be the whole machine's with kernels before 5.8.)
bool is_seen_without_proc(const LeaseFolder& folder)
{
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0 || ::setuid(65534) != 0)
        ::_exit(2);
    const auto holder = folder.holder("GPU-0");
    return holder && *holder && (*holder)->is_present;
}

TEST_P(Leases, HolderWhomProcDoesNotShowIsThereAllTheSame)
{
    const auto held = take_now("GPU-0");
    ASSERT_EQ(::chmod(place.c_str(), 0755), 0);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(is_seen_without_proc(folder) ? 0 : 1);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "needs to be root";
    EXPECT_EQ(status, 0);
}

TEST_P(Leases, ReplacedLockFileIsNotedAndTheNewOneTaken)
{
    const auto held = take_now("GPU-0", "first");
    ASSERT_EQ(::unlink((folder.path() / "GPU-0.lock").c_str()), 0);

    const auto next = take_now("GPU-0", "next");

    ASSERT_EQ(next.leases.size(), 1U);
    struct stat named {};
    struct stat open {};
    ASSERT_EQ(::stat(next.leases[0].file().c_str(), &named), 0);
    ASSERT_EQ(::fstat(next.leases[0].fd(), &open), 0);
    EXPECT_EQ(named.st_ino, open.st_ino);
    EXPECT_EQ(folder.holder("GPU-0").value()->run, "next");
}

TEST(LeaseFolder, WantsAWholePath)
{
    EXPECT_FALSE(LeaseFolder::open({"PONK_GPU_LOCKS=locks"}));
}

}  // namespace
}  // namespace ponk::gpu

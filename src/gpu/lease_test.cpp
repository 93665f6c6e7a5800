// SPDX-License-Identifier: Apache-2.0
#include "gpu/lease.hpp"
#include "gpu/lease_note.hpp"
#include "gpu/lock_file.hpp"
#include "os/directory.hpp"
#include "os/test_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Device device(const std::string& uuid, unsigned index, const std::string& card = {})
{
    Device made;
    made.uuid = uuid;
    made.index = index;
    made.card = card;
    return made;
}

Owner owner(const std::string& run)
{
    return {.user = "ann", .run = run, .pid = ::getpid(), .since = 1'750'000'000'000};
}

Wish wish(const char* text)
{
    return parse_wish(text).value();
}

std::vector<std::string> uuids(const LeaseFolder::Outcome& outcome)
{
    std::vector<std::string> names;
    for (const auto& lease : outcome.leases)
        names.push_back(lease.uuid());
    return names;
}

// Runs `work` in a process of its own, which then lives until it is killed.
class OtherProcess {
public:
    template <class Work>
    explicit OtherProcess(const Work& work)
    {
        auto ready = os::make_pipe().value();
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto held = work();
            const char byte = held ? 'y' : 'n';
            static_cast<void>(::write(ready.write.get(), &byte, 1));
            for (;;)
                ::pause();
        }
        ready.write.reset();
        char byte = 0;
        EXPECT_EQ(::read(ready.read.get(), &byte, 1), 1);
        EXPECT_EQ(byte, 'y');
    }
    ~OtherProcess() { end(); }
    OtherProcess(const OtherProcess&) = delete;
    OtherProcess& operator=(const OtherProcess&) = delete;

    void signal(int number) const { ::kill(pid_, number); }
    void end()
    {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
};

// On a disk and in memory: what machines have below /run/lock and /var/tmp.
class Leases : public testing::TestWithParam<const char*> {
protected:
    Leases()
        : place(os::make_temporary_directory(GetParam(), "ponk-test-").value()),
          folder(LeaseFolder::open({"PONK_GPU_LOCKS=" + (place / "locks").string()}).value())
    {
    }
    ~Leases() override { (void)os::remove_tree(place); }

    LeaseFolder::Outcome take(const Ticket& ticket, const std::string& run = "run")
    {
        return folder.try_take(ticket, owner(run), all, {}).value();
    }
    LeaseFolder::Outcome take_now(const char* text, const std::string& run = "run")
    {
        const auto ticket = folder.queue(wish(text), owner(run)).value();
        return take(ticket, run);
    }
    [[nodiscard]] std::size_t tickets() const
    {
        std::size_t count = 0;
        const auto entries = os::list_directory(folder.path()).value();
        for (const auto& entry : entries)
            if (entry.name.starts_with("ticket-")) ++count;
        return count;
    }

    Path place;
    LeaseFolder folder;
    std::vector<Device> all{device("GPU-0", 0), device("GPU-1", 1), device("GPU-2", 2)};
};

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
                  "GPU 0 (GPU-0) is leased by ann for run one since 2025-06-15T15:06:40.000Z");
        EXPECT_THAT(uuids(take_now("1")), ElementsAre("GPU-2"));
    }
    EXPECT_FALSE(folder.holder("GPU-0").value());
    EXPECT_THAT(uuids(take_now("all")), ElementsAre("GPU-0", "GPU-1", "GPU-2"));
    EXPECT_EQ(tickets(), 0U);
}

TEST_P(Leases, AreServedInTheOrderOfComing)
{
    auto held = take_now("all", "long");
    auto first = folder.queue(wish("all"), owner("first")).value();
    auto second = folder.queue(wish("1"), owner("second")).value();
    EXPECT_LT(first.number(), second.number());
    EXPECT_EQ(take(second).waiting->position, 2U);
    ASSERT_EQ(take(second).waiting->ahead.size(), 1U);
    EXPECT_EQ(take(second).waiting->ahead[0].run, "first");

    held.leases.erase(held.leases.begin());
    EXPECT_TRUE(take(second).waiting) << "one is free, but it is the other's turn";
    EXPECT_TRUE(take(first).waiting);

    held = {};
    EXPECT_TRUE(take(second).waiting);
    const auto got = take(first);
    EXPECT_EQ(got.leases.size(), 3U);
    const auto gone = std::move(first);
    EXPECT_TRUE(take(second).waiting);
}

TEST_P(Leases, WhoLeavesTheQueueHoldsNobodyUp)
{
    auto held = take_now("GPU-0", "long");
    auto first = std::optional(folder.queue(wish("all"), owner("first")).value());
    const auto second = folder.queue(wish("1"), owner("second")).value();
    EXPECT_TRUE(take(*first).waiting);
    EXPECT_TRUE(take(second).waiting);

    first.reset();

    EXPECT_THAT(uuids(take(second)), ElementsAre("GPU-1"));
    EXPECT_EQ(tickets(), 1U);
}

TEST_P(Leases, OneMayPassThoseWhoCannotWantWhatItTakes)
{
    const auto held = take_now("GPU-0", "long");
    const auto first = folder.queue(wish("GPU-0"), owner("first")).value();
    const auto other = folder.queue(wish("GPU-0,GPU-1"), owner("other")).value();
    EXPECT_TRUE(take(first).waiting);
    EXPECT_TRUE(take(other).waiting);

    const auto named = take_now("GPU-2", "named");
    EXPECT_THAT(uuids(named), ElementsAre("GPU-2"));
    // GPU-1 is free, but the one before could take it.
    const auto any = folder.queue(wish("2"), owner("any")).value();
    EXPECT_EQ(take(any).waiting->position, 3U) << "the third that could take GPU-0 or GPU-1";
    EXPECT_THAT(uuids(take_now("GPU-1")), IsEmpty());
    const auto behind = folder.queue(wish("GPU-2"), owner("behind")).value();
    EXPECT_EQ(take(behind).waiting->position, 2U) << "'any' could take GPU-2";
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
        waiter = folder.queue(wish("all"), owner("waiting")).value();
        return take(*waiter).waiting.has_value();
    });
    const auto ticket = folder.queue(wish("1"), owner("me")).value();
    EXPECT_EQ(take(ticket).waiting->position, 2U);
    EXPECT_EQ(folder.waiting()->size(), 2U);

    keeper.end();
    EXPECT_TRUE(take(ticket).waiting) << "all are free, but it is the other's turn";
    waiting.end();
    EXPECT_EQ(folder.waiting()->size(), 1U);
    EXPECT_THAT(uuids(take(ticket)), ElementsAre("GPU-0"));
    EXPECT_EQ(tickets(), 2U);

    const auto next = folder.queue(wish("1"), owner("next")).value();
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
    std::optional<Lease> second;
    OtherProcess inside([&] {
        auto shared = folder.share("GPU-0", "run");
        if (shared) second = std::move(*shared);
        return shared.has_value();
    });

    outside.end();
    EXPECT_EQ(folder.holder("GPU-0").value()->run, "run");
    EXPECT_TRUE(take_now("GPU-0", "other").waiting);
    auto anew = folder.share("GPU-0", "run");
    ASSERT_TRUE(anew);
    EXPECT_EQ(anew->file(), folder.path() / "GPU-0.lock");
    inside.end();
    EXPECT_TRUE(take_now("GPU-0", "other").waiting);
    anew = fail(ErrorKind::internal, "given back");
    EXPECT_FALSE(take_now("GPU-0", "other").waiting);
}

TEST_P(Leases, AreSharedOnlyWithTheRunThatHasThem)
{
    EXPECT_EQ(folder.share("GPU-0", "run").error().kind(), ErrorKind::conflict);
    auto held = take_now("GPU-0", "other");
    EXPECT_THAT(folder.share("GPU-0", "run").error().message(), HasSubstr("run 'other'"));
    EXPECT_TRUE(folder.share("GPU-0"));
    EXPECT_EQ(folder.holder("GPU-0").value()->run, "other") << "a failed share leaves no lock";
    held = {};
    EXPECT_FALSE(folder.share("GPU-0", "run"));
    EXPECT_FALSE(folder.share("GPU-0"));
    EXPECT_TRUE(folder.share("GPU-0", "other")) << "nobody took it since";
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
    std::optional ticket = folder.queue(wish("1"), owner("a")).value();
    const auto got = folder.try_take(*ticket, owner("a"), all, busy).value();
    EXPECT_THAT(uuids(got), ElementsAre("GPU-1"));
    ticket.reset();

    const auto every = folder.queue(wish("GPU-0"), owner("b")).value();
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
        const auto early = folder.queue(wish(theirs), owner("early")).value();
        const auto unread = fmt::format("ticket-{:018}", early.number());
        ASSERT_EQ(::truncate((folder.path() / unread).c_str(), 0), 0);
        const auto late = folder.queue(wish(ours), owner("late")).value();
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

TEST_P(Leases, StoppedProcessLosesItsTurnUntilItGoesOn)
{
    std::optional<Ticket> waiter;
    OtherProcess stopped([&] {
        waiter = folder.queue(wish("all"), {.user = "bob", .run = "s", .pid = ::getpid()}).value();
        return true;
    });
    const auto ticket = folder.queue(wish("1"), owner("me")).value();
    EXPECT_TRUE(take(ticket).waiting);

    stopped.signal(SIGSTOP);
    ::waitpid(stopped.pid(), nullptr, WUNTRACED);
    const auto later = folder.queue(wish("1"), owner("later")).value();
    EXPECT_EQ(take(later).waiting->position, 2U);

    stopped.signal(SIGCONT);
    ::waitpid(stopped.pid(), nullptr, WCONTINUED);
    const auto last = folder.queue(wish("1"), owner("last")).value();
    EXPECT_EQ(take(last).waiting->position, 4U);
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

    const auto ticket = folder.queue(wish("all"), owner("me")).value();
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
    EXPECT_FALSE(folder.share("GPU-0", "first"));
}

TEST_P(Leases, OneWhoWaitsAsksOnlyAfterTheOneBefore)
{
    const auto held = take_now("all");
    std::optional first = folder.queue(wish("all"), owner("first")).value();
    const auto second = folder.queue(wish("1"), owner("second")).value();
    EXPECT_EQ(take(second).waiting->position, 2U);

    // With the folder away nothing but the open ticket of the first can be asked.
    const auto away = place / "away";
    ASSERT_EQ(::rename(folder.path().c_str(), away.c_str()), 0);
    EXPECT_EQ(take(second).waiting->position, 2U);
    ASSERT_EQ(::rename(away.c_str(), folder.path().c_str()), 0);
    first.reset();
    EXPECT_EQ(take(second).waiting->position, 1U);
}

TEST_P(Leases, TicketsMove)
{
    auto first = folder.queue(wish("1"), owner("a")).value();
    const auto number = first.number();
    auto moved = std::move(first);
    EXPECT_EQ(moved.number(), number);
    EXPECT_EQ(tickets(), 1U);
    moved = folder.queue(wish("1"), owner("b")).value();
    EXPECT_EQ(tickets(), 1U);
    EXPECT_EQ(folder.waiting().value()[0].first.run, "b");
}

TEST(LeaseFolder, WantsAWholePath)
{
    EXPECT_FALSE(LeaseFolder::open({"PONK_GPU_LOCKS=locks"}));
}

TEST(LeaseFolder, OneFarBehindIsAskedSeldom)
{
    EXPECT_LT(pause_of({.position = 1, .ahead = {}, .reasons = {}}),
              pause_of({.position = 9, .ahead = {}, .reasons = {}}));
    EXPECT_LE(pause_of({.position = 100'000, .ahead = {}, .reasons = {}}),
              std::chrono::seconds(10));
}

}  // namespace
}  // namespace ponk::gpu

// SPDX-License-Identifier: Apache-2.0
#include "base/time.hpp"
#include "gpu/verdict/own_processes_test_support.hpp"
#include "os/fd.hpp"
#include "os/test_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace ponk::gpu {
namespace {

using namespace std::string_literals;

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// A folder like /proc with the processes that a test puts into it.
class FakeProc {
public:
    [[nodiscard]] const Path& path() const { return folder_.path(); }

    void put(pid_t pid, pid_t parent, const std::string& cgroup = "0::/\n", std::uint64_t start = 7)
    {
        write(pid,
              "stat",
              fmt::format("{} (a (b) c) S {} 1 1{} {} 0\n", pid, parent, zeros(), start));
        write(pid, "cgroup", cgroup);
    }
    void put_named(pid_t pid, pid_t parent, const std::string& name)
    {
        write(pid, "stat", fmt::format("{} ({}) S {} 1 1{} 7 0\n", pid, name, parent, zeros()));
    }
    void set_environment(pid_t pid, const std::string& words) { write(pid, "environ", words); }
    void set_namespace(pid_t pid, std::uint64_t inode)
    {
        const auto folder = path() / std::to_string(pid) / "ns";
        ASSERT_TRUE(os::make_directories(folder));
        std::filesystem::create_symlink(fmt::format("pid:[{}]", inode), folder / "pid");
    }
    void end(pid_t pid) { ASSERT_TRUE(os::remove_tree(path() / std::to_string(pid))); }

private:
    static std::string zeros()
    {
        std::string text;
        for (int i = 0; i < 15; ++i)
            text += " 0";
        return text;
    }
    void write(pid_t pid, const char* name, const std::string& text) const
    {
        const auto folder = path() / std::to_string(pid);
        ASSERT_TRUE(os::make_directories(folder));
        ASSERT_TRUE(os::replace_file(folder / name, text, 0600, os::Durable::no));
    }
    os::TestFolder folder_;
};

TEST(OwnProcesses, DescendantsBelongAndSiblingsDoNot)
{
    FakeProc proc;
    proc.put(1, 0);
    proc.put(10, 1);
    proc.put(11, 10);
    proc.put(12, 11);
    proc.put(20, 1);
    OwnProcesses own(processes_below(10), proc.path());

    own.refresh();

    EXPECT_THAT(own.living(), ElementsAre(10, 11, 12));
    EXPECT_TRUE(own.contains(12));
    EXPECT_FALSE(own.contains(20));
    EXPECT_EQ(own.whose(20).whose, Whose::others);
    EXPECT_EQ(own.whose(99).whose, Whose::unseen);
}

// What a driver tells of a pid is of the one who had it at that time.
TEST(OwnProcesses, BeginAndEndOfAProcessAreTold)
{
    const auto tick_ms = 1000 / ::sysconf(_SC_CLK_TCK);
    FakeProc proc;
    proc.put(10, 1, "0::/\n", 500);
    OwnProcesses own(processes_below(10), proc.path());

    const auto alive = own.whose(10);
    EXPECT_EQ(alive.start_ms, 500 * tick_ms);
    EXPECT_EQ(alive.end_ms, std::numeric_limits<std::int64_t>::max());

    proc.end(10);
    const auto before = boot_milliseconds();
    const auto gone = own.whose(10);
    EXPECT_EQ(gone.whose, Whose::own);
    EXPECT_GE(gone.end_ms, before);
    EXPECT_LE(gone.end_ms, boot_milliseconds());
    own.refresh();
    EXPECT_EQ(own.whose(10).end_ms, gone.end_ms) << "the first time counts";

    proc.put(10, 1, "0::/\n", 900);
    own.set_run(processes_below(11));
    EXPECT_EQ(own.whose(10).whose, Whose::others);
}

TEST(OwnProcesses, ServerOfMpsIsToldApart)
{
    FakeProc proc;
    proc.put(10, 1);
    proc.put_named(11, 10, "nvidia-cuda-mps");
    proc.put_named(12, 1, "nvidia-cuda-mps");
    OwnProcesses own(processes_below(10), proc.path());

    EXPECT_EQ(own.whose(11).whose, Whose::own_server);
    EXPECT_EQ(own.whose(12).whose, Whose::others);
    EXPECT_TRUE(own.contains(11));
}

// The kernel gives the number of the one that ended to the next.
TEST(OwnProcesses, NamespaceOfAContainerThatStartedWhenThisOneEndedIsNotTheRuns)
{
    const std::string id(64, 'a');
    const std::string other(64, 'b');
    FakeProc proc;
    proc.put(10, 1, "0::/system.slice/docker-" + id + ".scope\n");
    proc.put(11, 1, "0::/system.slice/docker-" + other + ".scope\n");
    proc.put(12, 1, "0::/\n");  // an engine without groups
    for (const pid_t pid : {10, 11, 12})
        proc.set_namespace(pid, 4026532000);
    RunProcesses run;
    run.pid_namespace = 4026532000;
    run.container = id;
    OwnProcesses own(run, proc.path());

    EXPECT_TRUE(own.contains(10));
    EXPECT_FALSE(own.contains(11));
    EXPECT_TRUE(own.contains(12));
}

TEST(OwnProcesses, RootIsKnownByItsStartTimeToo)
{
    FakeProc proc;
    proc.put(10, 1, "0::/\n", 500);
    proc.put(11, 10);
    OwnProcesses own(processes_below(10, 400), proc.path());

    EXPECT_FALSE(own.contains(10));
    EXPECT_FALSE(own.contains(11));
}

TEST(OwnProcesses, ControlGroupAndAllBelowItBelong)
{
    FakeProc proc;
    proc.put(10, 1, "0::/user.slice/ponk-ab\n");
    proc.put(11, 1, "12:memory:/user.slice/ponk-ab/inner\n0::/\n");
    proc.put(12, 1, "0::/user.slice/ponk-abc\n");
    proc.put(13, 1, "0::/user.slice\n");
    proc.put(14, 1, "0::/user.slice/ponk-ab/ponk-cd\n");  // a run that the run submitted
    for (const char* group : {"/user.slice/ponk-ab", "/sys/fs/cgroup/user.slice/ponk-ab"}) {
        RunProcesses run;
        run.cgroup = group;
        OwnProcesses own(run, proc.path());

        own.refresh();

        EXPECT_THAT(own.living(), ElementsAre(10, 11)) << group;
    }
}

TEST(OwnProcesses, RootOfAllGroupsIsNobodysMark)
{
    FakeProc proc;
    proc.put(10, 1, "0::/\n");
    for (const char* group : {"/", "/sys/fs/cgroup", ""}) {
        RunProcesses run;
        run.cgroup = group;
        EXPECT_FALSE(OwnProcesses(run, proc.path()).contains(10)) << group;
    }
}

TEST(OwnProcesses, ContainerIsFoundInTheWaysOfItsEngines)
{
    const std::string id(64, 'a');
    FakeProc proc;
    proc.put(10, 1, "0::/docker/" + id + "\n");
    proc.put(11, 1, "0::/system.slice/docker-" + id + ".scope\n");
    proc.put(12, 1, "0::/machine.slice/libpod-" + id + ".scope/container\n");
    proc.put(13, 1, "0::/docker/" + id + "a\n");
    proc.put(14, 1, "0::/docker/" + std::string(64, 'b') + "\n");
    RunProcesses run;
    run.container = id;
    OwnProcesses own(run, proc.path());

    own.refresh();

    EXPECT_THAT(own.living(), ElementsAre(10, 11, 12));
}

TEST(OwnProcesses, PidNamespaceBelongs)
{
    FakeProc proc;
    proc.put(10, 1);
    proc.set_namespace(10, 4026532000);
    proc.put(11, 1);
    proc.set_namespace(11, 4026531836);
    RunProcesses run;
    run.pid_namespace = 4026532000;
    OwnProcesses own(run, proc.path());

    EXPECT_TRUE(own.contains(10));
    EXPECT_FALSE(own.contains(11));
}

TEST(OwnProcesses, WhoCarriesTheTokenOfTheRunBelongsWhereverItIs)
{
    FakeProc proc;
    proc.put(10, 1);
    proc.set_environment(10, "A=1\0PONK_RUN_TOKEN=secret\0B=2\0"s);
    proc.put(11, 1);
    proc.set_environment(11, "PONK_RUN_TOKEN=secret2\0A=PONK_RUN_TOKEN=secret\0"s);
    proc.put(12, 1);  // may not be looked into
    // A daemon that the script started has the token of its environment.
    proc.put_named(20, 1, "ponk-daemon");
    proc.put(21, 20);
    proc.set_environment(21, "PONK_RUN_TOKEN=secret\0"s);
    RunProcesses run;
    run.token = "secret";
    OwnProcesses own(run, proc.path());
    own.refresh();

    EXPECT_TRUE(own.contains(10));
    EXPECT_FALSE(own.contains(11));
    EXPECT_FALSE(own.contains(12));
    EXPECT_FALSE(own.contains(21));
    own.refresh();
    EXPECT_THAT(own.living(), ElementsAre(10));
    EXPECT_FALSE(OwnProcesses({}, proc.path()).contains(10)) << "no token is nobody's";
}

TEST(OwnProcesses, WhoComesBetweenTwoLooksIsFound)
{
    FakeProc proc;
    proc.put(1, 0);
    proc.put(10, 1);
    proc.put(20, 1);
    OwnProcesses own({}, proc.path());
    own.refresh();
    EXPECT_THAT(own.living(), testing::IsEmpty());
    own.set_run(processes_below(10));  // as is known a moment later
    own.refresh();
    EXPECT_THAT(own.living(), ElementsAre(10));

    proc.put(11, 10);
    proc.put(12, 11);
    proc.put(21, 20);
    own.refresh();

    EXPECT_THAT(own.living(), ElementsAre(10, 11, 12));
    EXPECT_FALSE(own.contains(21));
}

TEST(OwnProcesses, WhoWasSeenStaysOwnWithoutHisParents)
{
    FakeProc proc;
    proc.put(10, 1);
    proc.put(11, 10);
    OwnProcesses own(processes_below(10), proc.path());
    own.refresh();

    proc.end(10);
    proc.put(11, 1);
    proc.put(12, 11);
    own.refresh();

    EXPECT_TRUE(own.contains(11));
    EXPECT_THAT(own.living(), ElementsAre(11, 12));
}

TEST(OwnProcesses, TheDeadAreRememberedForAWhileButNotWhoTakesTheirPid)
{
    FakeProc proc;
    proc.put(10, 1);
    proc.put(11, 10);
    OwnProcesses own(processes_below(10), proc.path());
    own.refresh();
    proc.end(11);
    own.refresh();

    EXPECT_TRUE(own.contains(11));
    EXPECT_THAT(own.living(), ElementsAre(10));

    proc.put(11, 1, "0::/\n", 900);
    EXPECT_FALSE(own.contains(11));
    own.refresh();
    proc.end(11);
    EXPECT_FALSE(own.contains(11));
}

TEST(OwnProcesses, RunsThatTheScriptSubmittedAreNotItsOwn)
{
    FakeProc proc;
    proc.put(10, 1);
    proc.put_named(20, 10, "ponk-daemon");
    proc.put_named(21, 20, "ponk-stub");
    proc.put(22, 21);
    OwnProcesses own(processes_below(10), proc.path());

    own.refresh();

    EXPECT_THAT(own.living(), ElementsAre(10));
    EXPECT_FALSE(own.contains(22));
}

TEST(OwnProcesses, RingOfParentsEnds)
{
    FakeProc proc;
    proc.put(10, 11);
    proc.put(11, 10);
    OwnProcesses own(processes_below(5), proc.path());

    own.refresh();

    EXPECT_FALSE(own.contains(10));
}

}  // namespace
}  // namespace ponk::gpu

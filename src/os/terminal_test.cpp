// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"
#include "os/terminal.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace ponk::os {
namespace {

using namespace std::chrono_literals;

struct Seated {
    Terminal terminal;
    Child child;
};

Seated sit_down(const std::string& text, TerminalSize size = {})
{
    Seated seated{*make_terminal(size), {}};
    const int theirs = seated.terminal.theirs.get();
    seated.child = *spawn({.argv = {"sh", "-c", text},
                           .session = Command::Session::terminal,
                           .descriptors = {{theirs, 0}, {theirs, 1}, {theirs, 2}}});
    seated.terminal.theirs.reset();
    return seated;
}

// All that is shown until `holds`, or until nobody sits there any more.
template <class Holds>
std::string read_until(const Seated& seated, const Holds& holds)
{
    std::string all;
    const auto deadline = after(30s);
    while (Deadline::clock::now() < deadline) {
        const bool open = read_shown(seated.terminal.ours, all, 1 << 16);
        if (!open || holds(all)) return all;
        wait_for(seated.terminal.ours, {.shows = true}, {}, 100ms);
    }
    return all;
}

std::string read_all(const Seated& seated)
{
    return read_until(seated, [](const std::string&) { return false; });
}

auto has(std::string word)
{
    return [word = std::move(word)](const std::string& text) {
        return text.find(word) != std::string::npos;
    };
}

TEST(Terminal, IsOneOfTheGivenSizeForTheProgramInIt)
{
    const auto seated =
        sit_down("test -t 0 && test -t 1 && stty size", {.columns = 97, .rows = 31});
    EXPECT_EQ(read_all(seated), "31 97\r\n");
    EXPECT_EQ(wait_for_exit(seated.child, after(30s), {})->status(), 0);
}

TEST(Terminal, TellsItsProgramOfAnotherSize)
{
    const auto seated =
        sit_down("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done");
    read_until(seated, has("ready"));
    ASSERT_TRUE(resize(seated.terminal.ours, {.columns = 101, .rows = 40}));
    EXPECT_TRUE(has("40 101")(read_all(seated)));
    static_cast<void>(wait_for_exit(seated.child, after(30s), {}));
}

TEST(Terminal, IsTheControllingOneSoThatKeysReachItsProgram)
{
    const auto seated = sit_down("echo ready; exec sleep 60");
    read_until(seated, has("ready"));
    std::string_view interrupt = "\x03";
    type(seated.terminal.ours, interrupt);
    EXPECT_TRUE(interrupt.empty());
    EXPECT_EQ(wait_for_exit(seated.child, after(30s), {})->signal, SIGINT);
}

TEST(Terminal, ReadsNoMoreThanItIsAskedFor)
{
    const auto seated = sit_down("yes");
    wait_for(seated.terminal.ours, {.shows = true}, {}, 30s);
    std::string some;
    EXPECT_TRUE(read_shown(seated.terminal.ours, some, 10));
    EXPECT_LE(some.size(), 10U);
    EXPECT_TRUE(signal_session(seated.child.pid, SIGKILL));
    static_cast<void>(wait_for_exit(seated.child, after(30s), {}));
}

TEST(Terminal, SignalsReachAllProcessesOfASessionAndNoOthers)
{
    // As the daemon is: who has lost its parent is ours.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const auto other = *spawn({.argv = {"sleep", "60"}, .session = Command::Session::own});
    const auto seated = sit_down("(sleep 60 & sleep 60 & echo ready); wait; exec sleep 60");
    read_until(seated, has("ready"));
    const auto pid = seated.child.pid;
    EXPECT_GE(*signal_session(pid, 0), 3U);
    EXPECT_TRUE(signal_session(pid, SIGKILL));
    const auto deadline = after(30s);
    while (*signal_session(pid, 0) > 0 && Deadline::clock::now() < deadline)
        wait_for(seated.terminal.ours, {}, {}, 5ms);
    EXPECT_EQ(*signal_session(pid, 0), 0U);
    reap_session(pid);
    EXPECT_EQ(find_exit(seated.child.pidfd.get())->signal, SIGKILL);  // is left to its parent
    static_cast<void>(wait_for_exit(seated.child, after(30s), {}));
    EXPECT_FALSE(find_exit(other.pidfd.get()));
    ::kill(other.pid, SIGKILL);
    static_cast<void>(wait_for_exit(other, after(30s), {}));
    ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(Terminal, WhoLeftASessionIsRememberedAndTakenAway)
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    const std::string word = "PONK_TERMINAL_TEST=stray";
    const TestFolder folder;
    const auto note = folder.path() / "pid";
    const auto began = run({.argv = {"sh",
                                     "-c",
                                     "setsid -f sh -c 'echo $$ >\"$0\"; exec sleep 60' \"$0\" "
                                     ">/dev/null 2>&1; until [ -s \"$0\" ]; do sleep 0.01; done",
                                     note.native()},
                            .env = std::vector<std::string>{"PATH=/usr/bin:/bin", word}},
                           after(30s),
                           {});
    ASSERT_TRUE(began);
    const auto own = *spawn(
        {.argv = {"sleep", "60"}, .env = std::vector<std::string>{"PATH=/usr/bin:/bin", word}});
    Strays strays(word);
    const auto deadline = after(30s);
    while (strays.look({own.pid}) == 0 && Deadline::clock::now() < deadline)
        ::usleep(2000);
    EXPECT_EQ(strays.look({own.pid}), 1U);
    EXPECT_EQ(Strays("PONK_TERMINAL_TEST=other").look({}), 0U);
    const auto pid = std::stoi(*read_file(note, 100));
    ::kill(pid, SIGKILL);
    while (strays.look({own.pid}) != 0 && Deadline::clock::now() < deadline)
        ::usleep(2000);
    EXPECT_EQ(::kill(pid, 0), -1);
    EXPECT_FALSE(find_exit(own.pidfd.get()));
    ::kill(own.pid, SIGKILL);
    static_cast<void>(wait_for_exit(own, after(30s), {}));
    ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST(Terminal, NobodyIsTakenForGoneWhoCannotBeLookedAt)
{
    const auto seated = sit_down("trap '' HUP; (trap '' HUP; sleep 60) & echo ready; wait");
    read_until(seated, has("ready"));
    const auto pid = seated.child.pid;
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    // No descriptor is free from here on.
    rlimit none = before;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
    const auto looked = signal_session(pid, 0);
    const auto killed = signal_session(pid, SIGKILL);
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_FALSE(looked);
    EXPECT_FALSE(killed);
    // The first is reached all the same.
    EXPECT_EQ(wait_for_exit(seated.child, after(30s), {})->signal, SIGKILL);
}

}  // namespace
}  // namespace ponk::os

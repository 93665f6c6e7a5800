// SPDX-License-Identifier: Apache-2.0
#include "os/helper_environment.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"
#include "os/test_folder.hpp"
#include "os/wait.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <unistd.h>

namespace ponk::os {
namespace {

using namespace std::chrono_literals;

TEST(Process, ReturnsOutputAndCode)
{
    const auto output =
        run({.argv = {"sh", "-c", "cat; echo err >&2; exit 3"}, .input = "hello"}, after(10s), {});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->out, "hello");
    EXPECT_EQ(output->err, "err\n");
    EXPECT_EQ(output->exit.status(), 3);
}

TEST(Process, TellsSignalsAsAShellDoes)
{
    const auto output = run({.argv = {"sh", "-c", "kill -SEGV $$"}}, after(10s), {});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->exit.status(), 128 + SIGSEGV);
}

TEST(Process, ShowsAnotherNameThanThatOfItsFile)
{
    const auto output =
        run({.argv = {"shown", "-c", "echo $0"}, .program = "/bin/sh"}, after(10s), {});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->out, "shown\n");
}

TEST(Process, AMissingProgramIsAnErrorNotACode)
{
    const auto output = run({.argv = {"no-such-program-here"}}, after(10s), {});

    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().kind(), ErrorKind::not_found);
}

TEST(Process, LooksForProgramsInAbsoluteFoldersOnly)
{
    const TestFolder folder;
    const auto program = folder.path() / "sh";
    ASSERT_TRUE(replace_file(program, "#!/bin/sh\nexit 9\n", 0755, Durable::no));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());

    for (const char* path : {"", ".", "./", "..:.", ".:"})
        EXPECT_EQ(find_program("sh", path), std::nullopt) << path;
    for (const char* path : {":/bin", ".:/bin", "./:/bin"})
        EXPECT_EQ(find_program("sh", path), "/bin/sh") << path;
    EXPECT_EQ(find_program("sh", folder.path().string()), program);

    std::filesystem::current_path(before);
}

TEST(Process, HelpersGetNoFolderOfAProject)
{
    EXPECT_EQ(helper_environment(
                  {"PATH=.::/usr/bin:bin:/p/.venv/bin:/p:/pp:/p/../q:/bin:", "PATHS=."}, "/p"),
              (std::vector<std::string>{"PATH=/usr/bin:/pp:/p/../q:/bin", "PATHS=."}));
    EXPECT_EQ(helper_environment({"A=.", "PATH=./x:/p"}),
              (std::vector<std::string>{"A=.", "PATH=/p"}));
}

TEST(Process, TellsHowAChildEndedWithoutTakingItAway)
{
    const auto child = spawn({.argv = {"sh", "-c", "exit 42"}});
    ASSERT_TRUE(child);
    ASSERT_TRUE(wait_readable(child->pidfd.get(), after(10s), {}));

    for (int twice = 0; twice < 2; ++twice) {
        const auto ended = find_exit(child->pidfd.get());
        ASSERT_TRUE(ended);
        EXPECT_EQ(ended->code, 42);
    }
    EXPECT_EQ(wait_for_exit(*child, after(10s), {})->code, 42);
    // Where the kernel keeps it, the code is known even now.
    if (const auto later = find_exit(child->pidfd.get())) {
        EXPECT_EQ(later->code, 42);
    }
}

TEST(Process, EndsAtItsDeadline)
{
    const auto output = run({.argv = {"sleep", "100"}}, after(50ms), {});

    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().kind(), ErrorKind::timeout);
}

TEST(Process, IdentityIsMoreThanAPid)
{
    const auto self = identify(::getpid());

    ASSERT_TRUE(self);
    EXPECT_TRUE(is_alive(*self));
    auto other = *self;
    other.start_ticks += 1;
    EXPECT_FALSE(is_alive(other));
    other = *self;
    other.boot_id = "another boot";
    EXPECT_FALSE(is_alive(other));
}

}  // namespace
}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#include "executor/run_directory/control_directory.hpp"

#include <gtest/gtest.h>

namespace ponk::executor {
namespace {

TEST(StubSpec, SurvivesARoundTripWithAnyBytes)
{
    StubSpec spec{.run = "r",
                  .token = "t",
                  .directory = "/a b\nc",
                  .program = "/bin/\xff",
                  .other_program = "python3",
                  .argv = {"", "end 0\n\n", "arg 3\nabc\n", "\xff\xfe", "'\""},
                  .relay = "/lib/ponk-relay",
                  .input = "input",
                  .umask = 027,
                  .time_limit = std::chrono::milliseconds(5),
                  .grace = std::chrono::milliseconds(7)};

    const auto back = parse_stub_spec(to_text(spec));

    ASSERT_TRUE(back);
    EXPECT_EQ(back->argv, spec.argv);
    EXPECT_EQ(back->directory, spec.directory);
    EXPECT_EQ(back->program, spec.program);
    EXPECT_EQ(back->other_program, spec.other_program);
    EXPECT_EQ(back->relay, spec.relay);
    EXPECT_EQ(back->input, spec.input);
    EXPECT_EQ(back->umask, spec.umask);
    EXPECT_EQ(back->time_limit, spec.time_limit);
    EXPECT_EQ(back->grace, spec.grace);
}

TEST(StubSpec, IsRefusedWhenCutAnywhere)
{
    const auto whole = to_text(StubSpec{.run = "r", .argv = {"a", "b"}});

    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(parse_stub_spec(std::string_view(whole).substr(0, length))) << length;
}

TEST(RunProcesses, AreReadFromTheGoldenText)
{
    const auto processes = parse_processes("ponk-pid 1\nstub 11 111\nguard 12 112\nmain 13 113\n"
                                           "boot abc-def\npid-namespace 4026531836\ncgroup \n"
                                           "started 1700000000000\nstarted-boot 5000\nend\n");

    ASSERT_TRUE(processes);
    EXPECT_EQ(processes->main, (os::ProcessIdentity{13, 113, "abc-def"}));
    EXPECT_EQ(processes->guard.pid, 12);
    EXPECT_EQ(processes->pid_namespace, 4026531836U);
    EXPECT_EQ(processes->cgroup, "");
    EXPECT_EQ(processes->started_boot, 5000);
    EXPECT_FALSE(parse_processes("ponk-pid 1\nstub 11 111\n"));
    EXPECT_FALSE(parse_processes(""));
}

TEST(EarlyEnd, IsReadOrRefused)
{
    const auto early =
        parse_early_end("ponk-ended 1\ncode 0\nsignal 9\ncause cancel\nended 17\nend\n");

    ASSERT_TRUE(early);
    EXPECT_EQ(early->signal, 9);
    EXPECT_EQ(early->cause, "cancel");
    EXPECT_FALSE(parse_early_end("ponk-ended 1\nend\n"));
}

}  // namespace
}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/end_advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ponk::engine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string advice(std::string_view log)
{
    model::RunSpec spec;
    spec.program.script = "train.py";
    return advise_on_empty_input(log, {"/h/1/copy", "/azureml-run"}, spec).value_or("");
}

TEST(EndAdvice, AnInputThatMeetsTheEndIsNamedByItsInnermostLineOfTheProject)
{
    EXPECT_THAT(advice("Name: Traceback (most recent call last):\n"
                       "  File \"/h/1/copy/train.py\", line 3, in <module>\n    f()\n"
                       "  File \"/h/1/copy/lib/ask.py\", line 12, in f\n    return input()\n"
                       "  File \"/usr/lib/python3/x.py\", line 7, in input\n"
                       "EOFError: EOF when reading a line\n"),
                StartsWith("lib/ask.py:12: input() waits"));
    EXPECT_THAT(
        advice("  File \"/azureml-run/train.py\", line 1\nEOFError: EOF when reading a line"),
        StartsWith("train.py:1: "));
}

TEST(EndAdvice, ABreakpointIsNamedByTheLineThatTheDebuggerShows)
{
    EXPECT_THAT(
        advice("> /h/1/copy/b (1).py(2)<module>()->None\n-> breakpoint()\n(Pdb) \n"
               "Traceback (most recent call last):\n"
               "  File \"/usr/lib/python3.11/bdb.py\", line 94, in trace_dispatch\n"
               "bdb.BdbQuit\n\n"),
        AllOf(StartsWith("b (1).py:2: a breakpoint"), HasSubstr("PYTHONBREAKPOINT=0 train.py")));
}

TEST(EndAdvice, OnlyTheEndOfTheLogCounts)
{
    EXPECT_EQ(advice("EOFError: EOF when reading a line\nValueError: 3\n"), "");
    EXPECT_EQ(advice(""), "");
    EXPECT_EQ(advice("\n\n"), "");
    EXPECT_THAT(advice("> x(\n  File \"/h/1/copy/a\nEOFError: EOF when reading a line\n"),
                StartsWith("input() waits"))
        << "lines that only look like places";
}

TEST(EndAdvice, ProcessesThatOutliveTheScriptAreCounted)
{
    model::ExitRecord exit;
    EXPECT_EQ(survivors_text(exit), "");
    exit.survivors = 2;
    exit.survivor_commands = "sleep 60, x\x1b[2J";
    EXPECT_THAT(
        survivors_text(exit),
        AllOf(StartsWith("2 processes of the run still ran"), HasSubstr(": sleep 60, x\\x1b[2J")));
    exit.cause = "cancel";
    EXPECT_EQ(survivors_text(exit), "") << "a cancel ends all of them";
}

}  // namespace
}  // namespace ponk::engine

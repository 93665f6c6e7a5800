// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "cli/terminal/progress_line.hpp"
#include "os/file.hpp"
#include "os/wait.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

using namespace std::chrono_literals;

TEST(ProgressPace, SaysNothingOfShortWorkAndLittleOfLongWork)
{
    const ProgressPace::Time start{};
    ProgressPace pace(start);
    int lines = 0;
    int lines_of_first_second = 0;
    for (auto at = 0ms; at <= 10min; at += 50ms) {
        if (!pace.due(start + at)) continue;
        ++lines;
        if (at < 1s) ++lines_of_first_second;
    }
    EXPECT_EQ(lines_of_first_second, 0);
    EXPECT_GE(lines, 5);
    EXPECT_LE(lines, 15);
}

TEST(ProgressLine, IsNotSeenInAPipeWhenTheWorkIsShort)
{
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    const os::Fd read_end(ends[0]);
    const os::Fd write_end(ends[1]);
    {
        ProgressLine line(write_end.get());
        for (int i = 0; i < 100; ++i)
            line.show(fmt::format("snapshot: {} files", i));
    }
    char byte = 0;
    EXPECT_EQ(::read(read_end.get(), &byte, 1), -1);
}

TEST(ProgressLine, IsOneLineOfATerminalAndGoesAway)
{
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("COLUMNS");
    int master = -1;
    int slave = -1;
    const winsize size{.ws_row = 10, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
    const os::Fd screen(master);
    const os::Fd keyboard(slave);
    {
        ProgressLine line(keyboard.get());
        line.show("snapshot: 1 file");
        line.show("snapshot: 200000 files and more than fits into forty columns");
    }
    // A terminal hands over what was written in pieces, and not at once.
    std::string seen;
    while (!seen.ends_with("\r\x1b[K") || split(seen, '\r').size() < 4) {
        ASSERT_TRUE(os::wait_readable(screen.get(), after(std::chrono::seconds(10)), {})) << seen;
        char text[1024];
        const auto got = ::read(screen.get(), text, sizeof text);
        ASSERT_GT(got, 0);
        seen.append(text, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(seen.find('\n'), std::string::npos);
    EXPECT_TRUE(seen.ends_with("\r\x1b[K")) << seen;
    const auto last = split(seen, '\r').at(2);
    EXPECT_LE(display_width(last.substr(3)), 39U) << last;
}

}  // namespace
}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "output/terminal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <optional>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ponk::output {
namespace {

// A pseudo-terminal of 120 columns, and an environment of its own for each test.
class TerminalTest : public testing::Test {
protected:
    TerminalTest()
    {
        for (const char* name : {"COLUMNS", "NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"}) {
            const char* value = std::getenv(name);
            before_[name] = value ? std::optional<std::string>(value) : std::nullopt;
            ::unsetenv(name);
        }
        master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (master_ >= 0 && ::grantpt(master_) == 0 && ::unlockpt(master_) == 0)
            slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
        winsize window{};
        window.ws_col = 120;
        ::ioctl(slave_, TIOCSWINSZ, &window);
    }

    ~TerminalTest() override
    {
        ::close(slave_);
        ::close(master_);
        for (const auto& [name, value] : before_) {
            if (value) {
                ::setenv(name.c_str(), value->c_str(), 1);
            } else {
                ::unsetenv(name.c_str());
            }
        }
    }

    static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

    int master_ = -1;
    int slave_ = -1;
    std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(TerminalTest, ReadsTheWindow)
{
    set("TERM", "xterm-256color");
    set("LANG", "en_US.UTF-8");

    const auto terminal = detect_terminal(slave_);

    EXPECT_EQ(terminal.width, 120);
    EXPECT_TRUE(terminal.colour);
    EXPECT_TRUE(terminal.utf8);
}

TEST_F(TerminalTest, ColoursOnlyWhereTheyAreWanted)
{
    EXPECT_FALSE(detect_terminal(slave_).colour);
    set("TERM", "dumb");
    EXPECT_FALSE(detect_terminal(slave_).colour);
    set("TERM", "xterm");
    EXPECT_TRUE(detect_terminal(slave_).colour);
    set("NO_COLOR", "");
    EXPECT_TRUE(detect_terminal(slave_).colour);
    set("NO_COLOR", "1");
    EXPECT_FALSE(detect_terminal(slave_).colour);
}

TEST_F(TerminalTest, ColumnsOverrideTheWindow)
{
    set("COLUMNS", "50");
    EXPECT_EQ(detect_terminal(slave_).width, 50);
    for (const char* nonsense : {"0", "-5", "wide", "99999999999999999999", "1000000000"}) {
        set("COLUMNS", nonsense);
        EXPECT_EQ(detect_terminal(slave_).width, 120) << nonsense;
    }
}

TEST_F(TerminalTest, TheStrongestLocaleVariableDecides)
{
    EXPECT_FALSE(detect_terminal(slave_).utf8);
    set("LANG", "de_DE.utf8");
    EXPECT_TRUE(detect_terminal(slave_).utf8);
    set("LC_CTYPE", "POSIX");
    EXPECT_FALSE(detect_terminal(slave_).utf8);
    set("LC_ALL", "C.UTF-8");
    EXPECT_TRUE(detect_terminal(slave_).utf8);
}

TEST_F(TerminalTest, APipeIsPlainAndEndless)
{
    set("TERM", "xterm");
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);

    const auto terminal = detect_terminal(null);

    EXPECT_EQ(terminal.width, 0);
    EXPECT_FALSE(terminal.colour);
    ::close(null);
}

}  // namespace
}  // namespace ponk::output

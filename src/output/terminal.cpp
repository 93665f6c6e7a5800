// SPDX-License-Identifier: Apache-2.0
#include "output/terminal.hpp"

#include "base/text.hpp"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace ponk::output {

namespace {

constexpr int widest = 10'000;

// Empty when unset, as most of these variables are read.
std::string_view variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

int window_width(int fd)
{
    winsize window{};
    if (::ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
    return 80;
}

bool names_utf8(std::string_view locale)
{
    const auto name = lower(locale);
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
}

}  // namespace

Terminal detect_terminal(int fd)
{
    const bool interactive = ::isatty(fd) == 1;
    const auto term = variable("TERM");
    Terminal terminal;
    if (interactive) terminal.width = window_width(fd);
    if (const auto columns = parse_integer(variable("COLUMNS"));
        columns && *columns > 0 && *columns <= widest)
        terminal.width = static_cast<int>(*columns);
    terminal.colour =
        interactive && variable("NO_COLOR").empty() && !term.empty() && term != "dumb";
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const auto locale = variable(name);
        terminal.utf8 = names_utf8(locale);
        if (!locale.empty()) break;  // the first one that is set decides
    }
    return terminal;
}

}  // namespace ponk::output

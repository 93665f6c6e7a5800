// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/screen.hpp"

#include "cli/terminal/terminal_filter.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ponk::cli {

Screen::Screen()
{
    (void)print_text("\x1b[?25l", Passing::all);
}

Screen::~Screen()
{
    (void)print_text("\x1b[?25h", Passing::all);
}

Result<> Screen::draw(std::vector<std::string> lines)
{
    winsize window{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 2;
    const std::size_t rows = known ? window.ws_row : 24;
    if (lines.size() >= rows) {
        const auto left = lines.size() - (rows - 2);
        lines.resize(rows - 2);
        lines.push_back(fmt::format("({} more lines)", left));
    }
    std::string text;
    // Lines that were wrapped or pushed away cannot be drawn over.
    if (drawn_ > 0 && (window.ws_col != columns_ || window.ws_row != rows_))
        text = "\x1b[2J\x1b[H";
    else if (drawn_ > 0)
        text = fmt::format("\x1b[{}A\r", drawn_);
    for (const auto& line : lines)
        text += line + "\x1b[K\n";
    text += "\x1b[J";
    drawn_ = lines.size();
    columns_ = window.ws_col;
    rows_ = window.ws_row;
    return print_text(text, Passing::all);
}

Result<> Screen::clear()
{
    if (drawn_ == 0) return {};
    const auto text = fmt::format("\x1b[{}A\r\x1b[J", drawn_);
    drawn_ = 0;
    return print_text(text, Passing::all);
}

}  // namespace ponk::cli

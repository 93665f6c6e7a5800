// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/progress_line.hpp"

#include "base/text.hpp"
#include "os/file.hpp"
#include "output/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr std::string_view take_away = "\r\x1b[K";

bool can_change_a_line(int fd)
{
    const char* term = ::getenv("TERM");
    return ::isatty(fd) == 1 && term != nullptr && *term != '\0' &&
           std::string_view(term) != "dumb";
}

}  // namespace

bool ProgressPace::due(Time now)
{
    if (now < next_) return false;
    pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, std::chrono::minutes(1));
    next_ = now + pause_;
    return true;
}

ProgressLine::ProgressLine(int fd)
    : fd_(fd), terminal_(output::detect_terminal(fd)), changing_(can_change_a_line(fd))
{
}

void ProgressLine::show(std::string_view text)
{
    const std::string line = "ponk: " + printable(text);
    auto state = state_.lock();
    if (!changing_) {
        if (!state->pace.due(std::chrono::steady_clock::now())) return;
        static_cast<void>(os::write_all(fd_, line + "\n"));
        return;
    }
    // The last column is left free: some terminals begin a new line when it is filled.
    const auto room = static_cast<std::size_t>(std::max(terminal_.width - 1, 20));
    state->shown = true;
    static_cast<void>(os::write_all(
        fd_, fmt::format("{}{}", take_away, output::shortened(line, room, terminal_))));
}

void ProgressLine::clear()
{
    auto state = state_.lock();
    if (!state->shown) return;
    state->shown = false;
    static_cast<void>(os::write_all(fd_, take_away));
}

}  // namespace ponk::cli

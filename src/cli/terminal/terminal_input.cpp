// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal_input.hpp"

#include "os/wait.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::hours;

// A pipe that is full waits for the script, as a terminal does.
bool pass_on(int pipe, std::string_view text, const std::stop_token& stop)
{
    while (!text.empty()) {
        const auto put = ::write(pipe, text.data(), text.size());
        if (put > 0) {
            text.remove_prefix(static_cast<std::size_t>(put));
        } else if (put < 0 && errno == EAGAIN) {
            const auto ready = os::wait_writable(pipe, after(hours(1)), stop);
            if (stop.stop_requested()) return false;
            if (!ready && ready.error().kind() != ErrorKind::timeout) return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void read_terminal(int pipe, const std::stop_token& stop)
{
    char block[4096];
    while (!stop.stop_requested()) {
        const auto ready = os::wait_readable(STDIN_FILENO, after(hours(1)), stop);
        if (!ready) {
            if (ready.error().kind() == ErrorKind::timeout) continue;
            return;
        }
        const auto got = ::read(STDIN_FILENO, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;  // Ctrl-D, or the terminal is gone
        if (!pass_on(pipe, {block, static_cast<std::size_t>(got)}, stop)) return;
    }
}

}  // namespace

Result<std::unique_ptr<TerminalInput>> TerminalInput::make(os::Path pipe)
{
    TRY(os::make_directories(pipe.parent_path(), 0700));
    if (::mkfifo(pipe.c_str(), 0600) != 0)
        return fail_errno(errno, "create the pipe {}", os::in_quotes(pipe));
    // Reading first: the end for writing cannot be opened before. While it is open, the pipe keeps
    // what was typed even when the typing is over.
    auto reading = TRY(os::open_file(pipe, O_RDONLY | O_NONBLOCK | O_NOFOLLOW));
    auto writing = TRY(os::open_file(pipe, O_WRONLY | O_NONBLOCK | O_NOFOLLOW));
    return std::unique_ptr<TerminalInput>(
        new TerminalInput(std::move(pipe), std::move(reading), std::move(writing)));
}

TerminalInput::~TerminalInput()
{
    if (reader_.joinable()) {
        reader_.request_stop();
        reader_.join();
    }
    // A script that began has taken the name away.
    ::unlink(pipe_.c_str());
}

void TerminalInput::start()
{
    reader_ = std::jthread([end = std::move(writing_)](const std::stop_token& stop) {
        read_terminal(end.get(), stop);
    });
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.hpp"

#include "base/text.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <vector>

namespace ponk::os {

namespace {

winsize as_kernel_knows(TerminalSize size)
{
    winsize window{};
    window.ws_col = static_cast<unsigned short>(size.columns);
    window.ws_row = static_cast<unsigned short>(size.rows);
    return window;
}

// Backspace removes a whole letter, also where it has several bytes.
void know_utf8(int terminal)
{
    termios settings{};
    if (::tcgetattr(terminal, &settings) != 0) return;
    settings.c_iflag |= IUTF8;
    ::tcsetattr(terminal, TCSANOW, &settings);
}

struct Process {
    bool lives = false;
    bool has_ended = false;
    pid_t parent = -1;
    pid_t session = -1;
};

// /proc/PID/stat: the name, in brackets, may have any characters.
Process look_at(pid_t pid)
{
    const auto text = read_file_if_any(fmt::format("/proc/{}/stat", pid), 4096);
    if (!text || !*text) return {};
    const auto name_end = (*text)->rfind(')');
    if (name_end == std::string::npos) return {};
    const auto words = split((*text)->substr(std::min(name_end + 2, (*text)->size())), ' ');
    // State, parent, group, session.
    if (words.size() < 4) return {};
    Process process;
    process.has_ended = words[0] == "Z";
    process.lives = !process.has_ended && words[0] != "X";
    const auto number = [&words](std::size_t at, pid_t& out) {
        std::from_chars(words[at].data(), words[at].data() + words[at].size(), out);
    };
    number(1, process.parent);
    number(3, process.session);
    return process;
}

int send(int pidfd, int number)
{
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0));
}

}  // namespace

Result<Terminal> make_terminal(TerminalSize size)
{
    Terminal terminal;
    terminal.ours.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    std::array<char, 128> name{};
    if (!terminal.ours || ::grantpt(terminal.ours.get()) != 0 ||
        ::unlockpt(terminal.ours.get()) != 0 ||
        ::ptsname_r(terminal.ours.get(), name.data(), name.size()) != 0)
        return fail_errno(errno, "make a terminal");
    terminal.theirs.reset(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal.theirs) return fail_errno(errno, "open the terminal '{}'", name.data());
    know_utf8(terminal.theirs.get());
    TRY(resize(terminal.ours, size));
    return terminal;
}

Result<> resize(const Fd& ours, TerminalSize size)
{
    const auto window = as_kernel_knows(size);
    if (::ioctl(ours.get(), TIOCSWINSZ, &window) != 0)
        return fail_errno(errno, "change the size of a terminal");
    return {};
}

bool read_shown(const Fd& ours, std::string& out, std::size_t limit)
{
    std::array<char, 4096> block;
    while (limit > 0) {
        const auto got = ::read(ours.get(), block.data(), std::min(limit, block.size()));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return true;
        // EIO: the last of the other side is closed.
        if (got <= 0) return false;
        out.append(block.data(), static_cast<std::size_t>(got));
        limit -= static_cast<std::size_t>(got);
    }
    return true;
}

void type(const Fd& ours, std::string_view& bytes)
{
    while (!bytes.empty()) {
        const auto put = ::write(ours.get(), bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
}

Awaited wait_for(const Fd& ours,
                 Awaited awaited,
                 std::span<const int> others,
                 std::chrono::milliseconds limit)
{
    const bool any = awaited.shows || awaited.takes;
    const auto events = (awaited.shows ? POLLIN : 0) | (awaited.takes ? POLLOUT : 0);
    // One that nobody sits at would be reported at once, asked for or not.
    std::vector<pollfd> fds{{any ? ours.get() : -1, static_cast<short>(events), 0}};
    for (const int other : others)
        fds.push_back({other, POLLIN, 0});
    if (::poll(fds.data(), fds.size(), static_cast<int>(limit.count())) <= 0) return {};
    const auto happened = fds.front().revents;
    // The end of it is something to be read, too.
    const bool is_over = (happened & (POLLHUP | POLLERR)) != 0;
    return {.shows = awaited.shows && (is_over || (happened & POLLIN) != 0),
            .takes = awaited.takes && (is_over || (happened & POLLOUT) != 0)};
}

namespace {

template <class Action>
void for_each_process(const Action& action)
{
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", problem)) {
        const auto name = entry.path().filename().native();
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) action(pid);
    }
}

}  // namespace

std::size_t signal_session(pid_t session, int number)
{
    std::size_t living = 0;
    for_each_process([&](pid_t pid) {
        if (const auto first = look_at(pid); !first.lives || first.session != session) return;
        // Looked at again behind the descriptor: by then the number may be somebody else's.
        const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!pidfd || look_at(pid).session != session) return;
        ++living;
        if (number == 0) return;
        send(pidfd.get(), number);
        send(pidfd.get(), SIGCONT);
    });
    return living;
}

void reap_session(pid_t session)
{
    for_each_process([session](pid_t pid) {
        const auto process = look_at(pid);
        if (process.session == session && process.has_ended && process.parent == ::getpid() &&
            pid != session)
            ::waitpid(pid, nullptr, WNOHANG);
    });
}

}  // namespace ponk::os

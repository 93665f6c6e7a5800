// SPDX-License-Identifier: Apache-2.0
#include "os/terminal.hpp"

#include "base/text.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <optional>
#include <poll.h>
#include <set>
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
    std::int64_t began = 0;  // in the kernel's ticks: with the number it names one process for ever
};

// /proc/PID/stat: the name, in brackets, may have any characters. One that is gone does not live.
Result<Process> look_at(pid_t pid)
{
    const auto name = fmt::format("/proc/{}/stat", pid);
    const auto gone = [](int problem) { return problem == ENOENT || problem == ESRCH; };
    const Fd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && gone(errno)) return Process{};
    if (!file) return fail_errno(errno, "look at process {}", pid);
    std::array<char, 1024> block;
    const auto got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && gone(errno)) return Process{};
    if (got < 0) return fail_errno(errno, "look at process {}", pid);
    const std::string_view text(block.data(), static_cast<std::size_t>(got));
    const auto name_end = text.rfind(')');
    if (name_end == std::string_view::npos) return Process{};
    const auto words = split(text.substr(std::min(name_end + 2, text.size())), ' ');
    // State, parent, group, session; the last is the 22nd, where the number is the first.
    constexpr std::size_t began_at = 19;
    if (words.size() <= began_at) return Process{};
    Process process;
    process.has_ended = words[0] == "Z";
    process.lives = !process.has_ended && words[0] != "X";
    const auto number = [&words](std::size_t at, pid_t& out) {
        std::from_chars(words[at].data(), words[at].data() + words[at].size(), out);
    };
    number(1, process.parent);
    number(3, process.session);
    process.began = parse_integer(words[began_at]).value_or(0);
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

void drop_typed(const Fd& ours)
{
    // What is on its way, then what waits for a program on the other side.
    ::tcflush(ours.get(), TCOFLUSH);
    const Fd theirs(::ioctl(ours.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (theirs) ::tcflush(theirs.get(), TCIFLUSH);
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

Result<std::vector<pid_t>> all_processes()
{
    std::vector<pid_t> all;
    for (const auto& entry : TRY(list_directory(Path("/proc")))) {
        const auto& name = entry.name;
        pid_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) all.push_back(pid);
    }
    return all;
}

// Whether it lives and is of that session; then it has got the signal.
Result<bool> signal_member(pid_t pid, pid_t session, int number)
{
    const auto first = TRY(look_at(pid));
    if (!first.lives || first.session != session) return false;
    // Looked at again behind the descriptor: by then the number may be somebody else's.
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd && errno == ESRCH) return false;
    if (!pidfd) return fail_errno(errno, "reach process {}", pid);
    const auto second = TRY(look_at(pid));
    if (!second.lives || second.session != session) return false;
    if (number != 0) {
        send(pidfd.get(), number);
        send(pidfd.get(), SIGCONT);
    }
    return true;
}

}  // namespace

Result<std::size_t> signal_session(pid_t session, int number)
{
    if (number != 0 && session > 1) {
        // These need no descriptor, which may be what is missing.
        for (const pid_t whom : {session, -session}) {
            ::kill(whom, number);
            ::kill(whom, SIGCONT);
        }
    }
    std::size_t living = 0;
    std::optional<Error> problem;
    for (const pid_t pid : TRY(all_processes())) {
        // The others are reached all the same.
        const auto is_member = signal_member(pid, session, number);
        if (is_member)
            living += *is_member ? 1U : 0U;
        else
            problem = is_member.error();
    }
    if (problem) return tl::unexpected(*problem);
    return living;
}

void reap_session(pid_t session)
{
    const auto all = all_processes();
    if (!all) return;
    for (const pid_t pid : *all) {
        const auto process = look_at(pid);
        if (process && process->session == session && process->has_ended &&
            process->parent == ::getpid() && pid != session)
            ::waitpid(pid, nullptr, WNOHANG);
    }
}

namespace {

// Only of a process that lives: of one that has ended it is empty.
bool has_variable(pid_t pid, const std::string& word)
{
    constexpr std::uint64_t longest_environment = std::uint64_t{4} << 20;
    const auto text = read_file(fmt::format("/proc/{}/environ", pid), longest_environment);
    if (!text) return false;
    const auto words = split(*text, '\0');
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::size_t Strays::look(const std::set<pid_t>& others)
{
    const auto all = all_processes();
    if (!all) return known_.size();
    std::map<pid_t, std::int64_t> still_there;
    for (const pid_t pid : *all) {
        const auto process = look_at(pid);
        if (!process || process->parent != ::getpid() || others.contains(pid)) continue;
        const auto known = known_.find(pid);
        const bool is_known = known != known_.end() && known->second == process->began;
        if (is_known && process->has_ended) {
            ::waitpid(pid, nullptr, WNOHANG);
        } else if (is_known || (process->lives && has_variable(pid, word_))) {
            still_there.emplace(pid, process->began);
        }
    }
    known_ = std::move(still_there);
    return known_.size();
}

}  // namespace ponk::os

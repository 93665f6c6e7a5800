// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/ask.hpp"

#include "base/text.hpp"
#include "os/fd.hpp"
#include "os/file.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr std::size_t longest_secret = std::size_t{64} << 10;

Result<std::string> read_line(int fd)
{
    std::string line;
    for (;;) {
        char c = 0;
        const ssize_t got = ::read(fd, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read the answer");
        if (got == 0 || c == '\n') return line;
        line += c;
        if (line.size() > longest_secret)
            return fail(ErrorKind::invalid_argument, "the answer is too long");
    }
}

Result<std::string> read_all_input()
{
    std::string text;
    char block[4096];
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read standard input");
        if (got == 0) break;
        text.append(block, static_cast<std::size_t>(got));
        if (text.size() > longest_secret) {
            return fail(ErrorKind::invalid_argument,
                        "the secret on standard input is larger than {}",
                        byte_size_text(longest_secret));
        }
    }
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

// Echo is off while this lives. A signal that would end us ends the reading instead; it has its
// effect once the echo is on again.
class Silence {
public:
    explicit Silence(int terminal) : terminal_(terminal)
    {
        sigset_t held;
        ::sigemptyset(&held);
        for (const int number : {SIGTERM, SIGHUP, SIGQUIT})
            ::sigaddset(&held, number);
        signals_ = os::Fd(::signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
        ::sigaddset(&held, SIGTSTP);
        ::sigprocmask(SIG_BLOCK, &held, &mask_);
        known_ = ::tcgetattr(terminal_, &before_) == 0;
        if (!known_) return;
        termios quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
        ::tcsetattr(terminal_, TCSAFLUSH, &quiet);
    }
    ~Silence()
    {
        if (known_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
        ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

    // Waits for something to read; else the signal that came.
    [[nodiscard]] int wait() const
    {
        pollfd ends[] = {{terminal_, POLLIN, 0}, {signals_.get(), POLLIN, 0}};
        while (::poll(ends, 2, -1) < 0 && errno == EINTR) {
        }
        signalfd_siginfo info{};
        if ((ends[1].revents & POLLIN) == 0 ||
            ::read(signals_.get(), &info, sizeof info) != ssize_t{sizeof info})
            return 0;
        return static_cast<int>(info.ssi_signo);
    }

private:
    int terminal_;
    os::Fd signals_;
    bool known_ = false;
    termios before_{};
    sigset_t mask_{};
};

}  // namespace

Result<> confirm(std::string_view question)
{
    auto terminal = os::open_file("/dev/tty", O_RDWR);
    if (!terminal || ::isatty(STDIN_FILENO) != 1) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    fmt::format("confirmation needed: '{}'", question),
                                    "Repeat the command with '--yes'."));
    }
    TRY(os::write_all(terminal->get(), fmt::format("{} [y/N] ", question)));
    const std::string answer = lower(trim(TRY(read_line(terminal->get()))));
    if (answer == "y" || answer == "yes") return {};
    return fail(ErrorKind::cancelled, "nothing was changed");
}

bool has_terminal()
{
    return ::isatty(STDIN_FILENO) == 1 && os::open_file("/dev/tty", O_RDWR).has_value();
}

Result<std::string> ask_line(std::string_view prompt)
{
    if (!has_terminal())
        return fail(
            ErrorKind::invalid_argument, "cannot ask for '{}': there is no terminal", prompt);
    const os::Fd terminal = TRY(os::open_file("/dev/tty", O_RDWR));
    TRY(os::write_all(terminal.get(), fmt::format("{}: ", prompt)));
    return std::string(trim(TRY(read_line(terminal.get()))));
}

Result<std::string> read_secret(std::string_view prompt)
{
    if (::isatty(STDIN_FILENO) != 1) return read_all_input();
    const os::Fd terminal = TRY(os::open_file("/dev/tty", O_RDWR));
    TRY(os::write_all(terminal.get(), fmt::format("{}: ", prompt)));
    std::string text;
    int signal = 0;
    {
        const Silence silence(terminal.get());
        signal = silence.wait();  // what is typed comes as a whole line
        if (signal == 0) text = TRY(read_line(terminal.get()));
    }
    TRY(os::write_all(terminal.get(), "\n"));
    if (signal != 0) {
        ::raise(signal);
        return fail(ErrorKind::cancelled, "interrupted: nothing was changed");
    }
    // With signals off, Ctrl-C arrives as a byte.
    if (text.find('\x03') != text.npos)
        return fail(ErrorKind::cancelled, "interrupted: nothing was changed");
    return text;
}

}  // namespace ponk::cli

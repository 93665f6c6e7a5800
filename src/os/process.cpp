// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"

#include "base/text.hpp"
#include "os/wait.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::os {

std::string signal_name(int number)
{
    const char* name = ::sigabbrev_np(number);
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

namespace {

std::string path_of(const Command& command)
{
    if (command.env) {
        for (const auto& variable : *command.env) {
            if (variable.starts_with("PATH=")) return variable.substr(5);
        }
        return "/usr/local/bin:/usr/bin:/bin";
    }
    const char* path = ::getenv("PATH");
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

std::vector<char*> pointers(const std::vector<std::string>& words)
{
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (const auto& word : words)
        out.push_back(const_cast<char*>(word.c_str()));
    out.push_back(nullptr);
    return out;
}

Exit exit_from_status(int status)
{
    if (WIFSIGNALED(status)) return Exit{0, WTERMSIG(status)};
    return Exit{WEXITSTATUS(status), 0};
}

struct ChildPlan {
    const char* program;
    char* const* argv;
    char* const* env;
    const char* directory;
    bool own_session;
    bool takes_terminal;
    const mode_t* umask;
    // Pairs {ours, theirs}; "ours" were moved above every "theirs" before the fork.
    const std::vector<std::pair<int, int>>* descriptors;
    int failure;  // where errno goes when exec fails
};

// Between vfork and exec only system calls are allowed: memory is the parent's own.
[[noreturn]] void become(const ChildPlan& plan)
{
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action {};
        action.sa_handler = SIG_DFL;
        ::sigaction(number, &action, nullptr);
    }
    const auto give_up = [&plan](int problem) {
        [[maybe_unused]] const auto put = ::write(plan.failure, &problem, sizeof problem);
        ::_exit(127);
    };
    if (plan.own_session && ::setsid() < 0) give_up(errno);
    for (const auto& [ours, theirs] : *plan.descriptors) {
        if (::dup2(ours, theirs) < 0) give_up(errno);
    }
    if (plan.takes_terminal && ::ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0) give_up(errno);
    if (plan.umask) ::umask(*plan.umask);
    if (plan.directory && ::chdir(plan.directory) != 0) give_up(errno);
    ::execve(plan.program, plan.argv, plan.env);
    give_up(errno);
    ::_exit(127);
}

}  // namespace

std::optional<Path> find_program(const std::string& name, const std::string& path_variable)
{
    const auto runnable = [](const Path& file) {
        struct stat info {};
        return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
               ::access(file.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos)
        return runnable(name) ? std::optional<Path>(name) : std::nullopt;
    for (const auto& folder : split(path_variable, ':')) {
        // "." and its like would mean whatever folder we are in, say somebody else's project.
        if (!folder.starts_with('/')) continue;
        auto file = Path(folder) / name;
        if (runnable(file)) return file;
    }
    return std::nullopt;
}

Path own_program()
{
    std::error_code problem;
    auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
    return problem ? Path("ponk") : path;
}

Result<Child> spawn(const Command& command)
{
    if (command.argv.empty()) return fail(ErrorKind::invalid_argument, "empty command");
    const auto& name = command.program.empty() ? command.argv.front() : command.program;
    const auto program = find_program(name, path_of(command));
    if (!program) {
        return fail(ErrorKind::not_found,
                    "program '{}' does not exist or is not executable",
                    printable(name));
    }
    auto failure = TRY(make_pipe());
    // Descriptors for the child must not be overwritten while they are put in place.
    int highest = 2;
    for (const auto& [ours, theirs] : command.descriptors)
        highest = std::max(highest, theirs);
    std::vector<Fd> moved;
    std::vector<std::pair<int, int>> descriptors;
    for (const auto& [ours, theirs] : command.descriptors) {
        Fd copy(::fcntl(ours, F_DUPFD_CLOEXEC, highest + 1));
        if (!copy) return fail_errno(errno, "start '{}'", printable(name));
        descriptors.emplace_back(copy.get(), theirs);
        moved.push_back(std::move(copy));
    }
    Fd failure_end(::fcntl(failure.write.get(), F_DUPFD_CLOEXEC, highest + 1));
    failure.write.reset();
    const auto argv = pointers(command.argv);
    const auto env = command.env ? pointers(*command.env) : std::vector<char*>();
    const ChildPlan plan{program->c_str(),
                         argv.data(),
                         command.env ? env.data() : environ,
                         command.directory.empty() ? nullptr : command.directory.c_str(),
                         command.session != Command::Session::same,
                         command.session == Command::Session::terminal,
                         command.umask ? &*command.umask : nullptr,
                         &descriptors,
                         failure_end.get()};
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours runs in the child
    // A copy of our memory map, made to be thrown away, would cost each of our threads a fault for
    // every page it writes to afterwards.
    const pid_t pid = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (pid == 0) become(plan);
    const int fork_problem = errno;  // the child's, but then it is not used
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (pid < 0) return fail_errno(fork_problem, "start '{}'", printable(name));
    Child child{pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
    failure_end.reset();
    int problem = 0;
    ssize_t got = 0;
    do {
        got = ::read(failure.read.get(), &problem, sizeof problem);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof problem) {
        ::waitpid(pid, nullptr, 0);
        return fail_errno(problem, "start '{}'", printable(name));
    }
    return child;
}

Result<Exit> wait_for_exit(const Child& child, Deadline deadline, std::stop_token stop)
{
    const auto waited = wait_readable(child.pidfd.get(), deadline, stop);
    if (!waited) ::kill(child.pid, SIGKILL);
    int status = 0;
    pid_t got = 0;
    do {
        got = ::waitpid(child.pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    if (!waited) return tl::unexpected(waited.error());
    if (got < 0) return fail_errno(errno, "wait for process {}", child.pid);
    return exit_from_status(status);
}

namespace {

// What the ioctl PIDFD_GET_INFO fills in; older system headers lack it.
struct PidfdInfo {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::array<std::uint32_t, 11> ids;
    std::int32_t exit_status;
};
constexpr std::uint64_t pidfd_info_exit = 1U << 3U;

}  // namespace

std::optional<Exit> find_exit(int pidfd)
{
    constexpr auto by_pidfd = static_cast<idtype_t>(3);  // P_PIDFD
    siginfo_t child{};
    if (::waitid(by_pidfd, static_cast<id_t>(pidfd), &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
        if (child.si_pid == 0) return std::nullopt;
        if (child.si_code == CLD_EXITED) return Exit{child.si_status, 0};
        return Exit{0, child.si_status};
    }
    PidfdInfo info{};
    info.mask = pidfd_info_exit;
    const auto request = _IOWR(0xff, 11, PidfdInfo);
    if (::ioctl(pidfd, request, &info) != 0 || (info.mask & pidfd_info_exit) == 0)
        return std::nullopt;
    return exit_from_status(info.exit_status);
}

void reap(int pidfd)
{
    siginfo_t child{};
    ::waitid(static_cast<idtype_t>(3), static_cast<id_t>(pidfd), &child, WEXITED | WNOHANG);
}

Result<Output>
run(const Command& command, Deadline deadline, std::stop_token stop, std::size_t limit)
{
    auto in = TRY(make_pipe());
    auto out = TRY(make_pipe());
    auto err = TRY(make_pipe());
    auto piped = command;
    piped.descriptors.insert(piped.descriptors.end(),
                             {{in.read.get(), 0}, {out.write.get(), 1}, {err.write.get(), 2}});
    const auto child = TRY(spawn(piped));
    in.read.reset();
    out.write.reset();
    err.write.reset();
    ::fcntl(in.write.get(), F_SETFL, O_NONBLOCK);
    const Bell bell;
    const std::stop_callback on_stop(stop, [&bell] { bell.ring(); });

    Output output;
    std::string_view input = command.input;
    if (input.empty()) in.write.reset();
    std::array<Fd*, 2> ends{&out.read, &err.read};
    std::array<std::string*, 2> texts{&output.out, &output.err};
    const auto read_from = [&](std::size_t i) {
        char block[65536];
        const auto got = ::read(ends.at(i)->get(), block, sizeof block);
        if (got <= 0) return ends.at(i)->reset();
        const auto room = limit - std::min(limit, texts.at(i)->size());
        texts.at(i)->append(block, std::min(room, static_cast<std::size_t>(got)));
    };
    while (*ends[0] || *ends[1] || in.write) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - Deadline::clock::now());
        if (left.count() <= 0 || stop.stop_requested()) break;
        std::array<pollfd, 4> fds{{{ends[0]->get(), POLLIN, 0},
                                   {ends[1]->get(), POLLIN, 0},
                                   {in.write.get(), POLLOUT, 0},
                                   {bell.fd(), POLLIN, 0}}};
        const int wait_ms = static_cast<int>(std::min<std::int64_t>(left.count(), 60'000));
        if (::poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR) break;
        for (std::size_t i = 0; i < 2; ++i) {
            if (*ends.at(i) && fds.at(i).revents != 0) read_from(i);
        }
        if (in.write && fds[2].revents != 0) {
            const auto put = ::write(in.write.get(), input.data(), input.size());
            if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
            if (input.empty() || (put < 0 && errno != EAGAIN && errno != EINTR)) in.write.reset();
        }
    }
    // What it started would go on without it, and it is not reaped yet: the number is still its
    // own.
    const bool is_over = stop.stop_requested() || Deadline::clock::now() >= deadline;
    if (is_over && command.session == Command::Session::own) ::kill(-child.pid, SIGKILL);
    output.exit = TRY(wait_for_exit(child, deadline, stop));
    return output;
}

}  // namespace ponk::os

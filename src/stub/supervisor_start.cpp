// SPDX-License-Identifier: Apache-2.0
// How a process becomes the script.
#include "stub/seal.hpp"
#include "stub/supervisor.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace ponk::stub {

void Supervisor::start_script()
{
    shared_.oom_before = count_oom_kills(group_);
    shared_.started = wall_ms();
    shared_.started_boot = boot_ms();
    if (::access("cancel", F_OK) == 0) {  // asked to end before it began
        shared_.cause = Cause::cancel;
        signal_ = SIGTERM;
        return;
    }
    int ends[2] = {-1, -1};
    [[maybe_unused]] const int made = ::pipe2(ends, O_CLOEXEC);
    shared_.forking = true;
    const pid_t pid = group_.fork_into();
    if (pid == 0) become_script(ends[1]);
    ::close(ends[1]);
    if (pid > 0) {
        shared_.main = pid;
        // Nothing to read: the descriptor went with a successful exec.
        const auto got = ::read(ends[0], failure_, sizeof failure_ - 1);
        failure_[got > 0 ? got : 0] = '\0';
    } else {
        code_ = 126;
        Line<1024> line;
        line.add("cannot create a process: %s", std::strerror(errno));
        std::memcpy(failure_, line.text, line.size + 1);
    }
    ::close(ends[0]);
}

void Supervisor::give_up(int failure, const char* what, int problem)
{
    Line<1024> line;
    line.add("%s: %s", what, std::strerror(problem));
    // The pipe works on a full disk; the file is for those who stand in for a killed supervisor.
    [[maybe_unused]] const auto put = ::write(failure, line.text, line.size);
    line.add("\n");
    add_seal(line, job_.key, "failed");
    if (::fchdir(folder_) == 0) replace("failed", line.text, line.size);
    ::_exit(problem == ENOENT ? 127 : 126);
}

// Written by the script's own process right before it becomes the script: whoever reads it knows
// that the script begins, whatever happens to its supervisor meanwhile.
void Supervisor::write_pid_file(int failure)
{
    Line<8192> text;
    const auto add = [&text](const char* role, pid_t pid) {
        ProcessLine line{};
        if (pid > 0 && read_process(pid, line))
            text.add("%s %d %llu\n", role, pid, static_cast<unsigned long long>(line.start_ticks));
    };
    text.add("ponk-pid 1\n");
    add("stub", shared_.stub);
    add("guard", shared_.guard);
    add("main", ::getpid());
    char boot[64];
    if (read_small("/proc/sys/kernel/random/boot_id", boot, sizeof boot) > 0)
        text.add("boot %s", boot);  // ends with a newline
    utsname machine{};
    if (::uname(&machine) == 0) text.add("machine %s\n", machine.nodename);
    struct stat space {};
    if (::stat("/proc/self/ns/pid", &space) == 0)
        text.add("pid-namespace %llu\n", static_cast<unsigned long long>(space.st_ino));
    text.add("cgroup %s\nstarted %lld\nstarted-boot %lld\n",
             group_.path(),
             static_cast<long long>(shared_.started),
             static_cast<long long>(shared_.started_boot));
    add_seal(text, job_.key, "pid");
    if (const int problem = replace("pid", text.text, text.size); problem != 0)
        give_up(failure, "cannot write 'pid' in the run directory", problem);
}

void Supervisor::execute(const char* program)
{
    ::environ = job_.environment;  // whose PATH counts
    if (std::strchr(program, '/'))
        ::execve(program, job_.argv, job_.environment);
    else
        ::execvp(program, job_.argv);
}

// Whoever types holds the other end already; when nobody does, the script reads an end of file.
void Supervisor::connect_input()
{
    const int input = ::open(job_.input, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (input < 0) return;
    struct stat status {};
    if (::fstat(input, &status) == 0 && S_ISFIFO(status.st_mode)) {
        ::fcntl(input, F_SETFL, 0);
        ::dup2(input, 0);
    }
    ::close(input);
    ::unlink(job_.input);
}

void Supervisor::become_script(int failure)
{
    shared_.main = ::getpid();
    ::setpgid(0, 0);
    write_pid_file(failure);
    for (const int number : {SIGHUP, SIGPIPE})
        ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::umask(job_.umask);
    if (job_.input) connect_input();
    Line<1024> what;
    what.add("cannot enter the folder '%s'", job_.directory);
    if (::dup2(log_fd_, 1) < 0 || ::dup2(log_fd_, 2) < 0 || ::chdir(job_.directory) != 0)
        give_up(failure, what.text, errno);
    execute(job_.program);
    if (errno == ENOENT && job_.other_program) {
        // By this name a Python finds itself: its sys.executable.
        job_.argv[0] = const_cast<char*>(job_.other_program);
        execute(job_.other_program);
    }
    const int problem = errno;
    what.size = 0;
    what.add("cannot execute '%s'", job_.program);
    give_up(failure, what.text, problem);
}

}  // namespace ponk::stub

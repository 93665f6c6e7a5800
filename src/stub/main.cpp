// SPDX-License-Identifier: Apache-2.0
// ponk-stub DIRECTORY ENVIRONMENT REPORT [LEASE]: owns one run. The last ones are descriptor
// numbers: where the script's environment comes from, where "started", "claimed" or an error is
// written to, and what stays open as long as a process of the run lives. In a container, where no
// descriptors can be handed over, the environment is "@NAME", a file of the run directory that is
// removed as soon as it was read.
#include "stub/relay.hpp"
#include "stub/supervisor.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::stub {
namespace {

constexpr int exit_claimed = 75;
constexpr int report = 3;
constexpr int lease = 199;  // out of the way of a script that counts on low numbers

[[noreturn]] void refuse(const char* what, int problem)
{
    Line<1024> line;
    line.add("error %s%s%s\n",
             what,
             problem != 0 ? ": " : "",
             problem != 0 ? std::strerror(problem) : "");
    [[maybe_unused]] const auto put = ::write(report, line.text, line.size);
    ::_exit(1);
}

// From here on 0-2 are /dev/null, 3 is the report, and but for the lease nothing else is open.
void arrange_descriptors(int report_given, int lease_given)
{
    if (report_given != report) ::dup2(report_given, report);
    const bool leased = lease_given > report;
    if (leased && lease_given != lease) ::dup2(lease_given, lease);
    const int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd)
        ::dup2(null, fd);
    ::fcntl(report, F_SETFD, FD_CLOEXEC);
    // The script inherits the lease: what it guards is in use while any process has it.
    if (!leased) ::close(lease);
    for (const unsigned from : {4U, lease + 1U}) {
        const unsigned to = from < lease ? lease - 1U : ~0U;
        if (::syscall(SYS_close_range, from, to, 0U) == 0) continue;
        for (unsigned fd = from; fd <= to && fd < 4096U; ++fd)
            ::close(static_cast<int>(fd));
    }
}

void arrange_signals()
{
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGCHLD, SIG_DFL);  // ignored, children would vanish with their codes
    sigset_t ours;
    ::sigemptyset(&ours);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2})
        ::sigaddset(&ours, number);
    ::sigprocmask(SIG_SETMASK, &ours, nullptr);
}

// First the lock, then the claim: a claim without a lock means that its owner is dead.
void claim_run()
{
    const int first = ::open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (first < 0) refuse("cannot open 'lock' in the run directory", errno);
    // The script inherits this descriptor: the run counts as alive while any process has it.
    int lock = ::fcntl(first, F_DUPFD, 200);
    if (lock < 0) lock = ::dup(first);
    ::close(first);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    const bool taken =
        ::fcntl(lock, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES);
    if (taken || (::mkdir("claim", 0700) != 0 && errno == EEXIST)) {
        [[maybe_unused]] const auto put = ::write(report, "claimed\n", 8);
        ::_exit(exit_claimed);
    }
    if (::access("claim", F_OK) != 0) refuse("cannot create 'claim' in the run directory", errno);
}

// The note in a lock file names the run that has it, and who has a share reads the right one; a
// note that somebody spoilt says nothing.
bool is_another_ones(int file, const char* run)
{
    static char note[16384];
    Line<1024> wanted;
    wanted.add("\"run\":\"%s\"", run);
    const auto got = ::pread(file, note, sizeof note - 1, 0);
    note[got > 0 ? got : 0] = '\0';
    return std::strstr(note, "\"run\":\"") && !std::strstr(note, wanted.text);
}

// A share of what the run was given (a GPU): whoever inherits the descriptor has it too, so it is
// nobody else's while any process of the run lives. Another run may have it by now, when the one
// who took it for us was killed.
void take_shares(const Job& job)
{
    for (char** path = job.holds; *path; ++path) {
        const int file = ::open(*path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        const int kept = file < 0 ? -1 : ::fcntl(file, F_DUPFD, 200);
        struct flock whole {};
        whole.l_type = F_RDLCK;
        if (kept < 0 || ::fcntl(kept, F_OFD_SETLK, &whole) != 0)
            refuse("cannot take a share of the lock of a GPU", errno);
        if (is_another_ones(kept, job.run)) refuse("another run has the GPU by now", 0);
        ::close(file);
    }
}

// Waits for the supervisor. True when it went without having published anything. The folder is not
// asked: a quick reader may have removed it by now.
bool supervisor_died(pid_t stub, const Shared& shared, const Supervisor& supervisor)
{
    sigset_t signals;
    ::sigprocmask(SIG_BLOCK, nullptr, &signals);
    for (;;) {
        int status = 0;
        const pid_t found = ::waitpid(stub, &status, WNOHANG | WUNTRACED);
        // Stopped, it keeps no limits and hears no request to end.
        if (found == stub && WIFSTOPPED(status)) {
            ::kill(stub, SIGCONT);
            continue;
        }
        if (found != 0) break;
        const int number = ::sigwaitinfo(&signals, nullptr);
        if (number > 0 && number != SIGCHLD) ::kill(stub, number);
    }
    return !shared.published && !supervisor.is_published();
}

int open_environment(const char* directory, const char* given)
{
    if (given[0] != '@') return std::atoi(given);
    const int folder = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int file = ::openat(folder, given + 1, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0) ::unlinkat(folder, given + 1, 0);
    return file;
}

int own_run(const char* directory, const char* environment, int report_given, int lease_given)
{
    static Job job;
    // The key is in our memory, and the script is of the same user.
    ::prctl(PR_SET_DUMPABLE, 0);
    const char* trouble = read_environment(open_environment(directory, environment), job);
    arrange_descriptors(report_given, lease_given);
    if (trouble) refuse(trouble, 0);
    arrange_signals();
    ::setsid();
    ::umask(077);
    const int folder = ::open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || ::fchdir(folder) != 0) refuse("cannot enter the run directory", errno);
    keep_folder(folder);
    if (const char* wrong = read_spec(job)) refuse(wrong, 0);
    claim_run();
    take_shares(job);
    const int log = ::open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) refuse("cannot open 'log' in the run directory", errno);
    auto* memory =
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) refuse("cannot get memory", errno);
    auto& shared = *static_cast<Shared*>(memory);
    shared.guard = ::getpid();
    // Two processes of the same kind: when the inner one is killed, the script becomes a child of
    // the outer one, which goes on in its place.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // Before there are two of us: whoever supervises can start the relay.
    const int listener = open_relay(job);
    static Supervisor supervisor(job, shared, log, folder, report, listener);
    const pid_t stub = ::fork();
    if (stub <= 0) {
        shared.stub = ::getpid();
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        supervisor.run();
        return 0;
    }
    if (supervisor_died(stub, shared, supervisor)) supervisor.run();
    return 0;
}

}  // namespace
}  // namespace ponk::stub

int main(int argc, char** argv)
{
    if (argc != 4 && argc != 5) {
        static constexpr char usage[] = "usage: ponk-stub DIRECTORY ENVIRONMENT REPORT [LEASE]\n"
                                        "Supervises one run. Started by ponk, never by hand.\n";
        [[maybe_unused]] const auto put = ::write(2, usage, sizeof usage - 1);
        return 2;
    }
    return ponk::stub::own_run(
        argv[1], argv[2], std::atoi(argv[3]), argc == 5 ? std::atoi(argv[4]) : -1);
}

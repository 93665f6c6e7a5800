// SPDX-License-Identifier: Apache-2.0
// With processes of this machine; own_processes_test.cpp has a /proc of its own making.
#include "base/time.hpp"
#include "gpu/verdict/own_processes_test_support.hpp"
#include "os/fd.hpp"
#include "os/test_folder.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::gpu {
namespace {

using testing::Contains;
using testing::Not;

// A child that runs `work`, which reports pids through the pipe, and waits to be killed.
class RealProcess {
public:
    explicit RealProcess(const std::function<void(int report)>& work)
    {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            work(ends[1]);
            ::_exit(0);
        }
        ::close(ends[1]);
        report_ = os::Fd(ends[0]);
    }
    ~RealProcess()
    {
        for (const pid_t pid : reported_)
            ::kill(pid, SIGKILL);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    RealProcess(const RealProcess&) = delete;
    RealProcess& operator=(const RealProcess&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    pid_t next()
    {
        pid_t pid = 0;
        EXPECT_EQ(::read(report_.get(), &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
        reported_.push_back(pid);
        return pid;
    }

private:
    pid_t pid_ = -1;
    os::Fd report_;
    std::vector<pid_t> reported_;
};

void report_self_and_wait(int report)
{
    const pid_t self = ::getpid();
    [[maybe_unused]] const auto put = ::write(report, &self, sizeof self);
    ::pause();
    ::_exit(0);
}

TEST(OwnProcesses, RealForksSessionsAndOrphansBelowASubreaperBelong)
{
    RealProcess root([](int report) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (::fork() == 0) {  // a session of its own
            ::setsid();
            report_self_and_wait(report);
        }
        if (::fork() == 0) {  // double fork: the middle one goes away
            const pid_t middle = ::getpid();
            if (::fork() == 0) {
                ::setsid();
                while (::getppid() == middle)
                    ::sched_yield();
                report_self_and_wait(report);
            }
            ::_exit(0);
        }
        ::pause();
    });
    const pid_t first = root.next();
    const pid_t second = root.next();
    OwnProcesses own(processes_below(root.pid()));

    EXPECT_TRUE(own.contains(first));
    EXPECT_TRUE(own.contains(second));
    EXPECT_FALSE(own.contains(::getpid()));
    own.refresh();
    EXPECT_THAT(own.living(), testing::IsSupersetOf({root.pid(), first, second}));
    EXPECT_THAT(own.living(), Not(Contains(::getpid())));
}

TEST(OwnProcesses, RealOrphanWhoseSupervisorDiedStaysOwn)
{
    // The test takes the place of the daemon, which is the reaper of last resort.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    auto root = std::make_unique<RealProcess>([](int report) {
        if (::fork() == 0) report_self_and_wait(report);
        ::pause();
    });
    const pid_t orphan = root->next();
    OwnProcesses own(processes_below(root->pid()));
    own.refresh();

    ::kill(root->pid(), SIGKILL);
    ::waitpid(root->pid(), nullptr, 0);

    own.refresh();
    EXPECT_TRUE(own.contains(orphan));
    EXPECT_THAT(own.living(), Contains(orphan));
    root.reset();
    ::waitpid(orphan, nullptr, 0);
    EXPECT_TRUE(own.contains(orphan));
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(OwnProcesses, RealFactsOfThisProcessAreRead)
{
    const auto stat = find_stat("/proc", ::getpid());
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->parent, ::getppid());
    EXPECT_GT(stat->start_ticks, 0U);
    EXPECT_TRUE(find_pid_namespace("/proc", ::getpid()));
    EXPECT_EQ(find_inner_pid("/proc", ::getpid()), ::getpid());
    EXPECT_FALSE(cgroups_of("/proc", ::getpid()).empty());
    const auto credentials = find_credentials("/proc", ::getpid());
    ASSERT_TRUE(credentials);
    EXPECT_EQ(credentials->user, ::geteuid());
    EXPECT_THAT(credentials->groups, Contains(::getegid()));
    const auto files = find_mapped_files("/proc", ::getpid());
    ASSERT_TRUE(files);
    EXPECT_THAT(*files, Contains(testing::HasSubstr("libc.so")));
}

}  // namespace
}  // namespace ponk::gpu

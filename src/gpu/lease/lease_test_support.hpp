// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lease/lease.hpp"
#include "os/directory.hpp"
#include "os/identity.hpp"
#include "os/test_folder.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::gpu {

inline Device device(const std::string& uuid, unsigned index, const std::string& card = {})
{
    Device made;
    made.uuid = uuid;
    made.index = index;
    made.card = card;
    return made;
}

inline Owner owner(const std::string& run)
{
    return {.user = os::user_name(), .run = run, .pid = ::getpid(), .since = 1'750'000'000'000};
}

inline Selection selection(const char* text)
{
    return parse_gpu_selection(text).value();
}

inline std::vector<std::string> uuids(const LeaseFolder::Outcome& outcome)
{
    std::vector<std::string> names;
    for (const auto& lease : outcome.leases)
        names.push_back(lease.uuid());
    return names;
}

// Runs `work` in a process of its own, which then lives until it is killed.
class OtherProcess {
public:
    template <class Work>
    explicit OtherProcess(const Work& work)
    {
        auto ready = os::make_pipe().value();
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto held = work();
            const char byte = held ? 'y' : 'n';
            static_cast<void>(::write(ready.write.get(), &byte, 1));
            for (;;)
                ::pause();
        }
        ready.write.reset();
        char byte = 0;
        EXPECT_EQ(::read(ready.read.get(), &byte, 1), 1);
        EXPECT_EQ(byte, 'y');
    }
    ~OtherProcess() { end(); }
    OtherProcess(const OtherProcess&) = delete;
    OtherProcess& operator=(const OtherProcess&) = delete;

    void signal(int number) const { ::kill(pid_, number); }
    void end()
    {
        if (pid_ < 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    pid_t pid_ = -1;
};

// On a disk and in memory: what machines have below /run/lock and /var/tmp.
class Leases : public testing::TestWithParam<const char*> {
protected:
    Leases()
        : place(os::make_temporary_directory(GetParam(), "ponk-test-").value()),
          folder(LeaseFolder::open({"PONK_GPU_LOCKS=" + (place / "locks").string()}).value())
    {
    }
    ~Leases() override { (void)os::remove_tree(place); }

    LeaseFolder::Outcome take(const Ticket& ticket, const std::string& run = "run")
    {
        return folder.try_take(ticket, owner(run), all, {}).value();
    }
    LeaseFolder::Outcome take_now(const char* text, const std::string& run = "run")
    {
        const auto ticket = folder.queue(selection(text), owner(run)).value();
        return take(ticket, run);
    }
    [[nodiscard]] std::size_t tickets() const
    {
        std::size_t count = 0;
        const auto entries = os::list_directory(folder.path()).value();
        for (const auto& entry : entries)
            if (entry.name.starts_with("ticket-")) ++count;
        return count;
    }

    Path place;
    LeaseFolder folder;
    std::vector<Device> all{device("GPU-0", 0), device("GPU-1", 1), device("GPU-2", 2)};
};

}  // namespace ponk::gpu

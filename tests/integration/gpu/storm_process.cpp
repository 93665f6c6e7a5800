// SPDX-License-Identifier: Apache-2.0
#include "storm_process.hpp"

#include "base/text.hpp"
#include "gpu/lease/lease_note.hpp"
#include "gpu/lease/lock_file.hpp"
#include "os/wait.hpp"

#include <cstdio>
#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

namespace ponk::gpu::storm {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

unsigned below(std::mt19937& random, unsigned end)
{
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random);
}

Selection pick_selection(std::mt19937& random)
{
    static const std::array<const char*, 9> named{"GPU-0",
                                                  "GPU-1",
                                                  "GPU-2",
                                                  "GPU-3",
                                                  "MIG-a",
                                                  "MIG-b",
                                                  "GPU-1,GPU-2",
                                                  "GPU-0,MIG-a",
                                                  "GPU-2,GPU-3"};
    const auto roll = below(random, 100);
    const char* text = roll < 50   ? "1"
                       : roll < 70 ? "2"
                       : roll < 78 ? "all"
                                   : named[below(random, named.size())];
    return parse_gpu_selection(text).value();
}

unsigned cells_in(const std::vector<Device>& devices)
{
    unsigned mask = 0;
    for (const auto& device : devices)
        mask |= cells_of(device.uuid);
    return mask;
}

void sleep_about(std::mt19937& random, microseconds longest)
{
    ::usleep(below(random, static_cast<unsigned>(longest.count()) + 1));
}

class Process {
public:
    Process(Board& board, std::size_t number, unsigned seed, LeaseFolder folder)
        : board_(board), longest_(std::max<microseconds>(25ms, board.processes * 25us)),
          slot_(board.slots[number]), number_(static_cast<int>(number) + 1),
          run_("run-" + std::to_string(number)), random_(seed), folder_(std::move(folder))
    {
    }

    void live()
    {
        if (below(random_, 2) == 0) sleep_about(random_, 1s);
        const auto selection = pick_selection(random_);
        slot_.reach = cells_in(LeaseFolder::candidates(selection, all_).value());
        slot_.came = board_.now();
        auto ticket = folder_.queue(selection, owner());
        if (!ticket) return fail_with(ticket.error());
        slot_.ticket = ticket->number();
        if (below(random_, 4) == 0) hide(*ticket);
        slot_.queued = board_.now();
        slot_.phase = Phase::queued;
        auto outcome = wait_for_gpus(*ticket);
        if (!outcome) return;
        slot_.got = board_.now();
        slot_.cells = cells_in(outcome->devices);
        claim();
        slot_.phase = Phase::granted;
        {
            const auto gone = std::move(*ticket);
        }
        if (below(random_, 8) == 0)
            live_on_in_another(std::move(*outcome));
        else
            sleep_about(random_, 4ms);
        if (slot_.heir == 0) release();
        slot_.phase = Phase::released;
    }

private:
    [[nodiscard]] Owner owner() const
    {
        return {.user = "user" + std::to_string(::geteuid()),
                .run = run_,
                .pid = ::getpid(),
                .since = wall_milliseconds()};
    }

    // Blanks the own ticket. The queue serves one after the other, so without such ones the locks
    // of the GPUs would hardly ever be raced for.
    void hide(const Ticket& ticket)
    {
        slot_.hidden = true;
        const auto name = fmt::format("ticket-{:018}", ticket.number());
        if (::truncate((folder_.path() / name).c_str(), 0) != 0) ++board_.failures;
    }

    void fail_with(const Error& error)
    {
        std::fprintf(stderr, "%s: %s\n", run_.c_str(), error.message().c_str());
        ++board_.failures;
        slot_.phase = Phase::failed;
    }

    std::optional<LeaseFolder::Outcome> wait_for_gpus(const Ticket& ticket)
    {
        for (;;) {
            const auto decided = board_.now();
            auto outcome = folder_.try_take(ticket, owner(), all_, {});
            if (!outcome) {
                fail_with(outcome.error());
                return std::nullopt;
            }
            if (!outcome->waiting) {
                slot_.decided = decided;
                return std::move(*outcome);
            }
            // Far behind it asks so seldom that all together leave the processors to the others.
            const auto pause = std::min<microseconds>(outcome->waiting->position * 1ms, longest_);
            ::usleep(static_cast<useconds_t>(pause.count()));
        }
    }

    // The proof by other means: a place per cell that must be empty, or left by one that was
    // killed.
    void claim()
    {
        for (unsigned cell = 0; cell < cells; ++cell) {
            if ((slot_.cells & 1U << cell) == 0) continue;
            const int before = board_.owner[cell].exchange(number_);
            if (before == 0) continue;
            const auto& other = board_.slots[static_cast<std::size_t>(before) - 1];
            if (!other.killed || other.heir == 1) two_owners(cell, before);
        }
    }

    void release()
    {
        for (unsigned cell = 0; cell < cells; ++cell) {
            if ((slot_.cells & 1U << cell) == 0) continue;
            int mine = number_;
            if (!board_.owner[cell].compare_exchange_strong(mine, 0)) two_owners(cell, mine);
        }
    }

    void two_owners(unsigned cell, int other)
    {
        std::fprintf(
            stderr, "cell %u has two owners: %s and run-%d\n", cell, run_.c_str(), other - 1);
        ++board_.double_owners;
    }

    // Another process of the run takes shares of its own, as a supervisor does; the first one goes,
    // or is killed.
    void live_on_in_another(LeaseFolder::Outcome outcome)
    {
        if (::fork() != 0) {
            sleep_about(random_, 2ms);
            for (int i = 0; i < 5000 && slot_.heir == 0; ++i)
                ::usleep(1000);
            return;
        }
        std::vector<os::Fd> shares;
        for (const auto& lease : outcome.leases) {
            auto share = os::open_file(lease.file(), O_RDONLY | O_NOFOLLOW);
            // The first one may have been killed, and others have its GPUs by now.
            if (!share || !try_lock(share->get(), LockKind::shared).value_or(false)) std::_Exit(0);
            const auto note = read_lease_note(share->get());
            if (!note || note->owner.run != run_) std::_Exit(0);
            shares.push_back(std::move(*share));
        }
        outcome = {};
        slot_.heir = 1;
        ++board_.heirs;
        sleep_about(random_, 4ms);
        release();
        slot_.heir = 2;
        shares.clear();
        std::_Exit(0);
    }

    Board& board_;
    microseconds longest_;
    Slot& slot_;
    int number_;
    std::string run_;
    std::mt19937 random_;
    LeaseFolder folder_;
    std::vector<Device> all_ = machine();
};

}  // namespace

void live(Board& board, std::size_t number, unsigned seed, const Path& folder)
{
    const auto user = board.slots[number].user;
    if (user != ::geteuid() &&
        (::setgroups(0, nullptr) != 0 || ::setgid(user) != 0 || ::setuid(user) != 0)) {
        ++board.failures;
        return;
    }
    auto opened = LeaseFolder::open({"PONK_GPU_LOCKS=" + folder.string()});
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().message().c_str());
        ++board.failures;
        return;
    }
    Process(board, number, seed, std::move(*opened)).live();
}

}  // namespace ponk::gpu::storm

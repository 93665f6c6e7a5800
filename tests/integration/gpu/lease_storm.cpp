// SPDX-License-Identifier: Apache-2.0
// lease_storm [-n PROCESSES] [-s SEED] [-f FOLDER]: many processes of two users race for the GPUs
// of one made machine on real lock files; some are killed, some stopped for a while, some do not
// show their tickets and race for the locks. Says what happened, and fails when two had one GPU,
// one was left behind, or the order was not kept.
#include "os/directory.hpp"
#include "os/file.hpp"
#include "storm_process.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ponk::gpu::storm {
namespace {

using namespace std::chrono_literals;

constexpr std::array<uid_t, 2> users{65'001, 65'002};

struct Options {
    std::size_t processes = 1000;
    unsigned seed = 1;
    std::string folder = "/dev/shm";
};

class Storm {
public:
    Storm(const Options& options, Path folder)
        : options_(options), folder_(std::move(folder)), random_(options.seed)
    {
    }

    int run()
    {
        const auto began = std::chrono::steady_clock::now();
        start();
        const bool ended = watch();
        const auto seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - began);
        check_order();
        if (ended) check_free();
        report(seconds.count());
        return problems_ == 0 && ended && board_.double_owners == 0 && board_.failures == 0 ? 0 : 1;
    }

private:
    unsigned below(std::size_t end)
    {
        return std::uniform_int_distribution<unsigned>(0, static_cast<unsigned>(end) - 1)(random_);
    }

    void problem(const std::string& text)
    {
        if (++problems_ <= 20) std::fprintf(stderr, "%s\n", text.c_str());
    }

    void start()
    {
        board_.processes = options_.processes;
        auto gate = os::make_pipe().value();
        for (std::size_t i = 0; i < options_.processes; ++i) {
            auto& slot = board_.slots[i];
            slot.user = ::geteuid() == 0 ? users[i % users.size()] : ::geteuid();
            const auto pid = ::fork();
            if (pid == 0) {
                gate.write.reset();
                char byte = 0;
                static_cast<void>(::read(gate.read.get(), &byte, 1));  // all at once
                live(board_, i, options_.seed * 1'000'003U + static_cast<unsigned>(i), folder_);
                std::_Exit(0);
            }
            if (pid < 0) {
                problem("no process can be started");
                break;
            }
            slot.pid = pid;
            ++living_;
        }
    }

    void reap()
    {
        for (;;) {
            const auto pid = ::waitpid(-1, nullptr, WNOHANG);
            if (pid <= 0) return;
            --living_;
            for (std::size_t i = 0; i < options_.processes; ++i) {
                auto& slot = board_.slots[i];
                if (slot.pid != pid) continue;
                slot.pid = 0;
                if (!slot.killed && slot.phase != Phase::released && slot.phase != Phase::failed)
                    problem("run-" + std::to_string(i) + " ended before its time");
                break;
            }
        }
    }

    static bool is_untouched(const Slot& slot)
    {
        return slot.pid != 0 && !slot.killed && !slot.stopped;
    }

    // One that waits, or has a GPU now, and was neither killed nor stopped.
    Slot* pick_waiting()
    {
        for (int attempt = 0; attempt < 50; ++attempt) {
            auto& slot = board_.slots[below(options_.processes)];
            if (slot.phase == Phase::queued && is_untouched(slot)) return &slot;
        }
        return nullptr;
    }
    Slot* pick_holder()
    {
        const int owner = board_.owner[below(cells)];
        if (owner == 0) return nullptr;
        auto& slot = board_.slots[static_cast<std::size_t>(owner) - 1];
        return is_untouched(slot) ? &slot : nullptr;
    }

    void strike()
    {
        const bool holder = holders_killed_ < options_.processes / 10 && below(4) != 0;
        if (kills_ < options_.processes / 5) {
            if (auto* slot = holder ? pick_holder() : below(4) == 0 ? pick_waiting() : nullptr) {
                slot->killed = true;
                ::kill(slot->pid, SIGKILL);
                ++kills_;
                if (holder) ++holders_killed_;
            }
        }
        if (stops_ < options_.processes / 50) {
            if (auto* slot = pick_waiting()) {
                slot->stopped = true;
                ::kill(slot->pid, SIGSTOP);
                stopped_.emplace_back(slot, after(100ms));
                ++stops_;
            }
        }
        const auto now = std::chrono::steady_clock::now();
        std::erase_if(stopped_, [&](const auto& entry) {
            if (entry.second > now) return false;
            if (entry.first->pid != 0) ::kill(entry.first->pid, SIGCONT);
            return true;
        });
    }

    bool watch()
    {
        const auto deadline = after(5min);
        while (living_ > 0) {
            if (std::chrono::steady_clock::now() > deadline) {
                problem(std::to_string(living_) + " processes wait for ever");
                for (std::size_t i = 0; i < options_.processes; ++i)
                    if (const pid_t pid = board_.slots[i].pid; pid > 0) ::kill(pid, SIGKILL);
                return false;
            }
            strike();
            ::usleep(1000 + below(2000));
            reap();
        }
        for (int i = 0; i < 5000 && heirs_left(); ++i)
            ::usleep(1000);
        return true;
    }

    [[nodiscard]] bool heirs_left() const
    {
        return std::any_of(board_.slots.begin(),
                           board_.slots.begin() + static_cast<std::ptrdiff_t>(options_.processes),
                           [](const Slot& slot) { return slot.heir == 1; });
    }

    // Who came first was served first, unless the later one took what the first could not want.
    void check_order()
    {
        std::vector<const Slot*> served;
        for (std::size_t i = 0; i < options_.processes; ++i)
            if (board_.slots[i].got != 0) served.push_back(&board_.slots[i]);
        served_ = served.size();
        for (const auto* first : served) {
            for (const auto* later : served) {
                if (first->queued < later->came && first->got > later->queued &&
                    first->ticket >= later->ticket)
                    problem("a later one has ticket " + std::to_string(later->ticket) +
                            ", an earlier one " + std::to_string(first->ticket));
                const bool passed = first->ticket < later->ticket &&
                                    first->queued < later->decided && first->got > later->got;
                if (!passed || first->hidden) continue;
                ++passes_;
                if ((later->cells & first->reach) != 0 && !first->stopped)
                    problem("ticket " + std::to_string(later->ticket) + " was served before " +
                            std::to_string(first->ticket));
            }
        }
    }

    // Nothing is left of the dead: one more gets everything at once.
    void check_free()
    {
        const auto folder = LeaseFolder::open({"PONK_GPU_LOCKS=" + folder_.string()}).value();
        for (const auto& device : machine())
            if (folder.holder(device.uuid).value()) problem(device.uuid + " is leased at the end");
        if (!folder.waiting()->empty()) problem("somebody waits at the end");
        {
            const auto ticket = folder.queue(parse_gpu_selection("all").value(), {}).value();
            const auto outcome = folder.try_take(ticket, {}, machine(), {}).value();
            if (outcome.leases.size() != cells) problem("not all are free at the end");
        }
        const auto entries = os::list_directory(folder_).value();
        for (const auto& entry : entries) {
            const bool lock = entry.name.ends_with(".lock") || entry.name == "queue";
            if (!lock && ::geteuid() == 0) problem("'" + entry.name + "' is left behind");
        }
    }

    void report(double seconds) const
    {
        std::printf("%zu processes of %s, seed %u: %zu served, %u killed (%u of them with a GPU), "
                    "%u stopped for a while, %u lived on in a second process, %u allowed to pass; "
                    "%.1f s\n",
                    options_.processes,
                    ::geteuid() == 0 ? "two users" : "one user (no root, so no second one)",
                    options_.seed,
                    served_,
                    kills_,
                    holders_killed_,
                    stops_,
                    board_.heirs.load(),
                    passes_,
                    seconds);
        std::printf("two owners: %u; failures: %u; order broken, left behind or stuck: %u\n",
                    board_.double_owners.load(),
                    board_.failures.load(),
                    problems_);
    }

    Options options_;
    Path folder_;
    std::mt19937 random_;
    Board& board_ = Board::make();
    std::vector<std::pair<Slot*, Deadline>> stopped_;
    std::size_t living_ = 0;
    std::size_t served_ = 0;
    unsigned kills_ = 0;
    unsigned holders_killed_ = 0;
    unsigned stops_ = 0;
    unsigned passes_ = 0;
    unsigned problems_ = 0;
};

int storm_of(const Options& options)
{
    const auto place = os::make_temporary_directory(options.folder, "ponk-storm-").value();
    ::chmod(place.c_str(), 01777);  // as /run/lock: the first one of them makes the folder
    const auto status = Storm(options, place / "locks").run();
    (void)os::remove_tree(place);
    return status;
}

}  // namespace
}  // namespace ponk::gpu::storm

int main(int argc, char** argv)
{
    ponk::gpu::storm::Options options;
    for (int letter = 0; (letter = ::getopt(argc, argv, "n:s:f:")) != -1;) {
        if (letter == 'n')
            options.processes = std::strtoul(optarg, nullptr, 10);
        else if (letter == 's')
            options.seed = static_cast<unsigned>(std::strtoul(optarg, nullptr, 10));
        else if (letter == 'f')
            options.folder = optarg;
        else
            return 2;
    }
    if (options.processes == 0 || options.processes > ponk::gpu::storm::Board::most) {
        std::fprintf(stderr, "lease_storm: -n is 1 to %zu\n", ponk::gpu::storm::Board::most);
        return 2;
    }
    return ponk::gpu::storm::storm_of(options);
}

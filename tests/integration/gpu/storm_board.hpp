// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/lease/lease.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <sys/mman.h>
#include <sys/types.h>

// What the processes of a storm write down for their parent, in memory that they share.
namespace ponk::gpu::storm {

// The machine of the storm: three cards, and one in MIG mode with two instances. A cell is what
// two runs must never have at a time; the divided card is two of them.
constexpr unsigned cells = 5;

inline std::vector<Device> machine()
{
    std::vector<Device> devices;
    const auto add = [&](const char* uuid, unsigned index, const char* card) {
        Device device;
        device.uuid = uuid;
        device.index = index;
        device.card = card;
        devices.push_back(std::move(device));
    };
    add("GPU-0", 0, "");
    add("GPU-1", 1, "");
    add("GPU-2", 2, "");
    add("GPU-3", 3, "");
    add("MIG-a", 3, "GPU-3");
    add("MIG-b", 3, "GPU-3");
    return devices;
}

inline unsigned cells_of(const std::string& uuid)
{
    if (uuid == "GPU-3") return 0b11000;
    if (uuid == "MIG-a") return 0b01000;
    if (uuid == "MIG-b") return 0b10000;
    return 1U << static_cast<unsigned>(uuid.back() - '0');
}

enum class Phase { none, queued, granted, released, failed };

// Of one process. Moments are counted by Board::now.
struct Slot {
    std::atomic<pid_t> pid;
    std::atomic<Phase> phase;
    std::atomic<bool> killed;   // set before the signal is sent
    std::atomic<bool> stopped;  // set before it is stopped for a while
    std::atomic<bool> hidden;   // nobody can read its ticket, so nobody waits for it
    std::atomic<int> heir;      // 1: a process of the same run holds a share; 2: no more
    uid_t user;
    unsigned reach;  // cells that its selection could take
    std::uint64_t ticket;
    std::uint64_t came;     // before it asked for a ticket
    std::uint64_t queued;   // after
    std::uint64_t decided;  // before the call that gave it its GPUs
    std::uint64_t got;      // after; it has its ticket still
    unsigned cells;
};

struct Board {
    static constexpr std::size_t most = 20'000;

    std::size_t processes;
    std::atomic<std::uint64_t> clock;
    std::array<std::atomic<int>, gpu::storm::cells> owner;  // slot + 1, or 0
    std::atomic<unsigned> double_owners;
    std::atomic<unsigned> failures;
    std::atomic<unsigned> heirs;
    std::array<Slot, most> slots;

    std::uint64_t now() { return ++clock; }

    // All processes made after this see the same one.
    static Board& make()
    {
        auto* place = ::mmap(nullptr,
                             sizeof(Board),
                             PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                             -1,
                             0);
        return *static_cast<Board*>(place);  // zeros are its first state
    }
};

}  // namespace ponk::gpu::storm

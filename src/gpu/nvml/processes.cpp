// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/processes.hpp"

#include <cstdlib>
#include <cstring>
#include <time.h>

namespace ponk::nvml {

namespace {

// Without news for so long, a process that the driver does not mention did nothing.
constexpr std::uint64_t silence_us = 2'000'000;
constexpr unsigned char untouched = 0xa5;

struct Process {
    unsigned pid;
    std::uint64_t memory;
    unsigned sm_sum;
    unsigned sm_count;
    bool draws_only;
};

// The lists of the driver, in the order of the library's calls.
constexpr int graphics_list = 1;

// Memory that grows and is kept from call to call.
template <class T>
struct Buffer {
    T* items = nullptr;
    std::size_t room = 0;

    T* at_least(std::size_t count)
    {
        if (count <= room) return items;
        items = static_cast<T*>(std::realloc(static_cast<void*>(items), count * sizeof(T)));
        if (!items) std::abort();
        room = count;
        return items;
    }
};

Buffer<Process> processes;
std::size_t process_count = 0;

void add_process(unsigned pid, std::uint64_t memory, int list)
{
    const bool draws = list == graphics_list;
    if (memory == not_told) memory = 0;
    for (std::size_t i = 0; i < process_count; ++i) {
        if (processes.items[i].pid != pid) continue;
        // A process in two lists is one process with one amount of memory.
        if (memory > processes.items[i].memory) processes.items[i].memory = memory;
        if (!draws) processes.items[i].draws_only = false;
        return;
    }
    processes.at_least(process_count + 1 > processes.room ? 2 * process_count + 64
                                                          : process_count + 1);
    processes.items[process_count++] = {pid, memory, 0, 0, draws};
}

// Some releases of the driver write longer entries than the name of the call promises: what was
// written behind the shorter ones tells.
std::size_t entry_size(const unsigned char* bytes, unsigned count, std::size_t promised)
{
    if (promised == sizeof(ProcessV1)) return promised;
    for (std::size_t i = count * promised; i < count * sizeof(ProcessWide); ++i)
        if (bytes[i] != untouched) return sizeof(ProcessWide);
    return promised;
}

int read_list(const Library& library, int list, Handle handle)
{
    static Buffer<unsigned char> buffer;
    unsigned room = 64;
    for (int tries = 0; tries < 4; ++tries) {
        const std::size_t bytes = (room + 1) * sizeof(ProcessWide);
        auto* entries = buffer.at_least(bytes);
        std::memset(entries, untouched, bytes);
        unsigned count = room;
        const int status = library.processes[list](handle, &count, entries);
        if (status == insufficient_size) {
            room = (count > room ? count : room) + 64;
            continue;
        }
        if (status != success) return status;
        const auto size = entry_size(
            entries, count, library.first_version[list] ? sizeof(ProcessV1) : sizeof(ProcessV2));
        for (unsigned i = 0; i < count && i < room; ++i) {
            ProcessV1 entry;
            std::memcpy(&entry, entries + i * size, sizeof entry);
            if (entry.pid != 0) add_process(entry.pid, entry.memory, list);
        }
        return success;
    }
    return insufficient_size;
}

std::uint64_t wall_us()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000U;
}

// Adds what each process did since the last call. True when the driver knows: then one that it does
// not mention did nothing.
bool read_utilisation(const Library& library, Card& card)
{
    static Buffer<ProcessUtilisation> buffer;
    if (!library.process_utilisation || card.has_mig) return false;
    const auto now = wall_us();
    if (card.utilisation_seen == 0 || card.utilisation_seen > now + silence_us)
        card.utilisation_seen = now - silence_us;
    unsigned count = 0;
    int status = library.process_utilisation(card.handle, nullptr, &count, card.utilisation_seen);
    if (status == insufficient_size && count != 0) {
        count += 16;
        status = library.process_utilisation(
            card.handle, buffer.at_least(count), &count, card.utilisation_seen);
    } else if (status == success) {
        count = 0;
    }
    if (status == not_found) return now - card.utilisation_seen > silence_us;
    if (status != success || count == 0) return false;
    auto newest = card.utilisation_seen;
    for (unsigned i = 0; i < count; ++i) {
        const auto& entry = buffer.items[i];
        // Drivers are known to put rubbish between true entries.
        if (entry.pid == 0 || entry.sm > 100 || entry.time <= card.utilisation_seen) continue;
        if (entry.time > newest && entry.time <= now + silence_us) newest = entry.time;
        for (std::size_t p = 0; p < process_count; ++p) {
            if (processes.items[p].pid != entry.pid) continue;
            processes.items[p].sm_sum += entry.sm;
            ++processes.items[p].sm_count;
        }
    }
    card.utilisation_seen = newest;
    return true;
}

}  // namespace

int write_processes(Machine& machine, const Device& device, Text& out)
{
    process_count = 0;
    int worst = success;
    for (int list = 0; list < 3; ++list) {
        if (!machine.library.processes[list]) continue;
        const int status = read_list(machine.library, list, device.handle);
        if (status == gpu_is_lost || status == reset_required) worst = status;
    }
    const bool known = read_utilisation(machine.library, machine.cards[device.card]);
    out.key("processes");
    out.open('[');
    for (std::size_t i = 0; i < process_count; ++i) {
        const auto& process = processes.items[i];
        out.next();
        out.open('{');
        out.member("pid", std::uint64_t{process.pid});
        out.member("memory", process.memory);
        if (process.sm_count != 0)
            out.member("sm_utilisation",
                       static_cast<double>(process.sm_sum) / process.sm_count / 100.0);
        else if (known)
            out.member("sm_utilisation", 0.0);
        if (process.draws_only) {
            out.key("draws_only");
            out.add("true");
        }
        out.close('}');
    }
    out.close(']');
    return worst;
}

}  // namespace ponk::nvml

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
// What an entry of the driver is the mean of began no longer before its time.
constexpr std::uint64_t window_us = 1'000'000;
// More of a difference between two clocks than reading them makes.
constexpr std::int64_t clock_step_us = 50'000;

struct Process {
    unsigned pid;
    std::uint64_t memory;
    unsigned sm_sum;
    unsigned sm_count;
    bool draws_only;
    bool is_client;  // of MPS
    bool ended;
};

// The lists of the driver, in the order of the library's calls.
constexpr int graphics_list = 1;
constexpr int mps_list = 2;

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

Process* find_process(unsigned pid)
{
    for (std::size_t i = 0; i < process_count; ++i)
        if (processes.items[i].pid == pid) return &processes.items[i];
    return nullptr;
}

Process& new_process(unsigned pid)
{
    processes.at_least(process_count + 1 > processes.room ? 2 * process_count + 64
                                                          : process_count + 1);
    auto& process = processes.items[process_count++];
    process = Process{};
    process.pid = pid;
    return process;
}

void add_process(unsigned pid, std::uint64_t memory, int list)
{
    const bool draws = list == graphics_list;
    if (memory == not_told) memory = 0;
    auto* process = find_process(pid);
    if (!process) {
        process = &new_process(pid);
        process->draws_only = draws;
    }
    // A process in two lists is one process with one amount of memory.
    if (memory > process->memory) process->memory = memory;
    if (!draws) process->draws_only = false;
    if (list == mps_list) process->is_client = true;
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

std::uint64_t microseconds(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000U;
}

// The driver's times are those of the wall clock. Once that was set, nobody knows how old what was
// told before is.
bool clock_was_set(Card& card, std::uint64_t now)
{
    const auto offset = static_cast<std::int64_t>(now - microseconds(CLOCK_BOOTTIME));
    const auto change = offset - card.clock_offset;
    const bool first = card.utilisation_seen == 0;
    card.clock_offset = offset;
    return !first && (change > clock_step_us || change < -clock_step_us);
}

// Adds what each process did since the last call, also one that is gone by now. True when the
// driver knows: then one that it does not mention did nothing.
// An entry is the mean of all that was measured since the time that was asked for, with the time of
// its end; and of all who had the process's place in the driver: a new process is told with the
// work of the one before it. So `span_us` is how far back the time reaches that the answer is
// about.
bool read_utilisation(const Library& library, Card& card, std::uint64_t& span_us)
{
    static Buffer<ProcessUtilisation> buffer;
    if (!library.process_utilisation || card.has_mig) return false;
    const auto now = microseconds(CLOCK_REALTIME);
    const bool set = clock_was_set(card, now);
    if (set || card.utilisation_seen == 0) card.told_at = now;
    const auto since = card.utilisation_seen == 0 ? now - silence_us : card.utilisation_seen;
    card.utilisation_seen = now;
    if (set) return false;
    unsigned count = 0;
    int status = library.process_utilisation(card.handle, nullptr, &count, since);
    if (status == insufficient_size && count != 0) {
        count += 16;
        status = library.process_utilisation(card.handle, buffer.at_least(count), &count, since);
    } else if (status == success) {
        count = 0;
    }
    if (status == not_found) return now - card.told_at > silence_us;
    if (status != success || count == 0) return false;
    const auto answered = microseconds(CLOCK_REALTIME);
    for (unsigned i = 0; i < count; ++i) {
        const auto& entry = buffer.items[i];
        // Drivers are known to put rubbish between true entries.
        if (entry.pid == 0 || entry.sm > 100 || entry.time <= since || entry.time > answered)
            continue;
        card.told_at = now;
        auto* process = find_process(entry.pid);
        if (!process) {
            if (entry.sm == 0) continue;
            process = &new_process(entry.pid);
            process->ended = true;
        }
        process->sm_sum += entry.sm;
        ++process->sm_count;
    }
    span_us = answered - since + window_us;
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
    std::uint64_t span_us = 0;
    const bool known = read_utilisation(machine.library, machine.cards[device.card], span_us);
    out.key("processes");
    out.open('[');
    for (std::size_t i = 0; i < process_count; ++i) {
        const auto& process = processes.items[i];
        out.next();
        out.open('{');
        out.member("pid", std::uint64_t{process.pid});
        out.member("memory", process.memory);
        // Of clients of MPS some drivers tell nothing: that is not idleness.
        if (process.sm_count != 0) {
            out.member("sm_utilisation",
                       static_cast<double>(process.sm_sum) / process.sm_count / 100.0);
            out.member("sm_span_ms", span_us / 1000);
        } else if (known && !process.is_client) {
            out.member("sm_utilisation", 0.0);
        }
        if (process.draws_only) {
            out.key("draws_only");
            out.add("true");
        }
        if (process.ended) {
            out.key("ended");
            out.add("true");
        }
        out.close('}');
    }
    out.close(']');
    return worst;
}

}  // namespace ponk::nvml

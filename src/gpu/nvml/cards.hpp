// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/nvml/library.hpp"
#include "gpu/nvml/text.hpp"

namespace ponk::nvml {

constexpr unsigned most_cards = 64;
constexpr unsigned most_devices = 512;
constexpr unsigned most_xids = 16;

// A card, in MIG mode or not.
struct Card {
    Handle handle = nullptr;
    char uuid[96] = {};
    char name[128] = {};
    char capability[16] = {};
    char bus_id[32] = {};
    unsigned minor = 0;  // of its device file, or no_instance
    unsigned max_clock = 0;
    unsigned power_limit = 0;  // milliwatts; 0 when it is not reported
    bool has_gpm = false;
    bool has_mig = false;                // is in that mode
    std::uint64_t utilisation_seen = 0;  // when work by process was last asked for, microseconds
    std::uint64_t reported_at = 0;       // … and when it was last reported
    std::int64_t clock_offset = 0;       // of the wall clock from CLOCK_BOOTTIME, then
    unsigned xids[most_xids] = {};
    unsigned xid_instances[most_xids] = {};
    unsigned xid_count = 0;
};

// What a run can be given: a whole card, or an instance of one.
struct Device {
    unsigned card = 0;
    Handle handle = nullptr;
    char uuid[96] = {};
    char name[128] = {};
    bool is_instance = false;
    unsigned gpu_instance = 0;
    unsigned compute_instance = 0;
    // Two moments of its counters, the earlier one first.
    GpmSample gpm[2] = {};
    std::int64_t gpm_time = 0;
};

// All that the driver lists, as of the last `enumerate`.
struct Machine {
    Library library;
    Problem problem;  // of the driver as a whole, or of a card that is left out
    bool loaded = false;
    char driver[96] = {};
    char cuda[32] = {};
    Card cards[most_cards];
    unsigned card_count = 0;
    Device devices[most_devices];
    unsigned device_count = 0;
    void* events = nullptr;
};

void enumerate(Machine& machine);
void write_inventory(Machine& machine, Text& out);

struct MemoryFigures {
    std::uint64_t total = 0;
    std::uint64_t free = 0;
    std::uint64_t used = 0;
};
// The status of the driver.
int read_memory(const Library& library, Handle handle, MemoryFigures& out);

}  // namespace ponk::nvml

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The few types of NVIDIA's management library that we ask for, with the layouts and numbers that
// its documentation fixes. Fields have our names.
namespace ponk::nvml {

using Handle = void*;  // of a card or an instance

// What a call answers; other values occur.
enum Status : int {
    success = 0,
    not_supported = 3,
    no_permission = 4,
    not_found = 6,
    insufficient_size = 7,
    driver_not_loaded = 9,
    timeout = 10,
    gpu_is_lost = 15,
    reset_required = 16,
    operating_system = 17,
    version_mismatch = 18,
};

enum ClockKind : int { clock_sm = 1 };
constexpr int temperature_of_gpu = 0;
constexpr int uncorrected_errors = 1;
constexpr int since_driver_start = 0;
constexpr std::uint64_t xid_event = 8;
constexpr std::uint64_t not_told = ~std::uint64_t{0};
constexpr unsigned no_instance = ~0U;

// The size of a structure with its version in the top byte, as newer calls want it.
template <class T>
constexpr unsigned versioned(unsigned number)
{
    return static_cast<unsigned>(sizeof(T)) | (number << 24U);
}

struct PciInfo {
    char legacy_bus_id[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned more[32];  // differs between versions and is not used
};

struct Memory {
    std::uint64_t total;
    std::uint64_t free;
    std::uint64_t used;
};
struct MemoryV2 {
    unsigned version;
    std::uint64_t total;
    std::uint64_t reserved;
    std::uint64_t free;
    std::uint64_t used;
};

struct Utilisation {
    unsigned gpu;  // percent
    unsigned memory;
};

struct TemperatureV1 {
    unsigned version;
    int sensor;
    int degrees;
};

// The first two fields are the same in all versions; `entry_size` of the first version, of the
// second, and of a few releases of the driver that added a field without a new name for the call.
struct ProcessV1 {
    unsigned pid;
    std::uint64_t memory;
};
struct ProcessV2 {
    unsigned pid;
    std::uint64_t memory;
    unsigned gpu_instance;
    unsigned compute_instance;
};
struct ProcessWide {
    unsigned pid;
    std::uint64_t memory;
    unsigned gpu_instance;
    unsigned compute_instance;
    std::uint64_t protected_memory;
};

struct ProcessUtilisation {
    unsigned pid;
    std::uint64_t time;  // wall-clock microseconds
    unsigned sm;         // percent
    unsigned memory;
    unsigned encoder;
    unsigned decoder;
};

struct EventData {
    Handle device;
    std::uint64_t type;
    std::uint64_t data;  // the Xid
    unsigned gpu_instance;
    unsigned compute_instance;
};

using GpmSample = void*;
constexpr unsigned gpm_version = 1;
constexpr unsigned metric_sm_activity = 2;
constexpr unsigned metric_tensor_activity = 5;
struct GpmSupport {
    unsigned version;
    unsigned supported;
};
struct GpmMetric {
    unsigned id;
    int status;
    double value;  // percent
    const char* names[3];
};
struct GpmQuery {
    unsigned version;
    unsigned count;
    GpmSample earlier;
    GpmSample later;
    GpmMetric metrics[512];  // the library has room for fewer, and reads `count`
};

static_assert(sizeof(Memory) == 24 && sizeof(MemoryV2) == 40);
static_assert(sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24 && sizeof(ProcessWide) == 32);
static_assert(sizeof(ProcessUtilisation) == 32 && sizeof(EventData) == 32);
static_assert(sizeof(GpmMetric) == 40);

}  // namespace ponk::nvml

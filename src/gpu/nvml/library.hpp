// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/nvml/declarations.hpp"

// The driver's library, loaded when the program starts. A call that this version of it lacks is a
// null pointer.
namespace ponk::nvml {

struct Library {
    int (*init)() = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    int (*cuda_version)(int*) = nullptr;

    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, Handle*) = nullptr;
    int (*uuid)(Handle, char*, unsigned) = nullptr;
    int (*name)(Handle, char*, unsigned) = nullptr;
    int (*compute_capability)(Handle, int*, int*) = nullptr;
    int (*max_clock)(Handle, int, unsigned*) = nullptr;
    int (*clock)(Handle, int, unsigned*) = nullptr;
    int (*pci_info)(Handle, PciInfo*) = nullptr;
    int (*minor_number)(Handle, unsigned*) = nullptr;

    int (*memory)(Handle, Memory*) = nullptr;
    int (*memory_v2)(Handle, MemoryV2*) = nullptr;
    int (*utilisation)(Handle, Utilisation*) = nullptr;
    int (*power)(Handle, unsigned*) = nullptr;
    int (*power_limit)(Handle, unsigned*) = nullptr;
    int (*energy)(Handle, std::uint64_t*) = nullptr;
    int (*temperature)(Handle, int, unsigned*) = nullptr;
    int (*temperature_v1)(Handle, TemperatureV1*) = nullptr;
    int (*ecc_errors)(Handle, int, int, std::uint64_t*) = nullptr;

    // Compute, graphics, MPS: with entries of the second version, else of the first.
    using Processes = int (*)(Handle, unsigned*, void*);
    Processes processes[3] = {};
    bool first_version[3] = {};
    int (*process_utilisation)(Handle, ProcessUtilisation*, unsigned*, std::uint64_t) = nullptr;

    int (*mig_mode)(Handle, unsigned*, unsigned*) = nullptr;
    int (*mig_most)(Handle, unsigned*) = nullptr;
    int (*mig_by_index)(Handle, unsigned, Handle*) = nullptr;
    int (*gpu_instance)(Handle, unsigned*) = nullptr;
    int (*compute_instance)(Handle, unsigned*) = nullptr;

    int (*gpm_support)(Handle, GpmSupport*) = nullptr;
    int (*gpm_alloc)(GpmSample*) = nullptr;
    int (*gpm_free)(GpmSample) = nullptr;
    int (*gpm_sample)(Handle, GpmSample) = nullptr;
    int (*gpm_mig_sample)(Handle, unsigned, GpmSample) = nullptr;
    int (*gpm_metrics)(GpmQuery*) = nullptr;

    int (*event_set)(void**) = nullptr;
    int (*register_events)(Handle, std::uint64_t, void*) = nullptr;
    int (*event_wait)(void*, EventData*, unsigned) = nullptr;
    int (*event_free)(void*) = nullptr;
};

// Why there are no GPUs, or fewer than there should be; `kind` is a word of ponk's errors, null
// when all is well.
struct Problem {
    const char* kind = nullptr;
    char message[512] = {};
    char hint[512] = {};

    [[gnu::format(printf, 3, 4)]] void say(const char* new_kind, const char* format, ...);
    [[gnu::format(printf, 2, 3)]] void advise(const char* format, ...);
};

// Loads and initialises. False with a problem that a person can act on.
bool load(Library& library, Problem& problem);
// The library's own words for a status.
const char* status_text(const Library& library, int status);

}  // namespace ponk::nvml

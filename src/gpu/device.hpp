// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/json.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

// What a machine's driver says about its GPUs. docs/design/gpu.md describes the JSON forms.
namespace ponk::gpu {

// One GPU that a run can be given: a card, or an instance of a card in MIG mode.
struct Device {
    std::string uuid;  // "GPU-…" or "MIG-…"
    std::string card;  // of an instance: uuid of its card; else empty
    unsigned index = 0;
    std::string name;
    std::string vendor;              // "nvidia" or "amd"
    std::string compute_capability;  // "9.0"; empty when not known
    unsigned clock_mhz = 0;          // the highest of its processors
    std::string pci_bus_id;          // with its domain: "0000:0B:00.0"
    std::uint64_t memory_total = 0;  // bytes
    std::uint64_t memory_free = 0;
    // Device files that a process needs for this GPU alone ("/dev/nvidia0", "/dev/dri/renderD128").
    std::vector<std::string> nodes;
    double power_limit = 0;  // watts; 0 when not known
};

struct Inventory {
    std::string way;             // "nvml", "nvidia-smi", "amd", or a program's name
    std::string driver_version;  // empty without a driver
    std::string cuda_version;    // the newest that the driver serves: "13.0"
    std::vector<Device> devices;
    // Why there are none, or fewer than there should be; with a hint. Absent when all is well or
    // there is no sign of a GPU at all.
    std::optional<Error> problem;
};

// A process that has a context on a device. Pids are those of this machine.
struct DeviceProcess {
    pid_t pid = 0;
    std::uint64_t memory = 0;                // bytes; 0 when it is not reported
    std::optional<double> sm_utilisation{};  // 0…1 since the last sample, if reported
    // How far back from the sample the time may reach that `sm_utilisation` is about.
    std::optional<std::int64_t> sm_span_ms{};
    bool draws_only = false;  // has a context for graphics alone: a screen
    bool ended = false;       // worked since the last sample, and has no context any more
};

// One device at one moment. Absent values are those the card or the driver does not report.
struct DeviceSample {
    std::string uuid;
    std::optional<double> utilisation;      // 0…1: a kernel was resident
    std::optional<double> sm_activity;      // 0…1: how much of the processors worked
    std::optional<double> tensor_activity;  // 0…1
    std::optional<std::uint64_t> memory_used;
    std::optional<double> power_watts;
    std::optional<double> energy_joules;  // a counter since the driver was loaded
    std::optional<double> temperature;
    std::optional<unsigned> clock_mhz;
    std::vector<DeviceProcess> processes;
    std::vector<int> xids;  // critical events since the last sample
    std::optional<std::uint64_t> ecc_errors;
    std::string lost;  // not empty: the driver no longer reaches it, and why
};

struct Sample {
    std::int64_t time = 0;  // wall-clock milliseconds
    std::vector<DeviceSample> devices;
};

Json to_json(const Device& device);
Json to_json(const Inventory& inventory);
Json to_json(const Sample& sample);
Result<Device> device_from(const Json& json);
Result<Inventory> inventory_from(const Json& json);
Result<Sample> sample_from(const Json& json);

}  // namespace ponk::gpu

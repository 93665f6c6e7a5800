// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml.so.1, for tests of ponk-nvml: the calls that it makes, answered from
// the file that stand_in_state.hpp describes.
#include "gpu/nvml/declarations.hpp"
#include "gpu/nvml/stand_in_state.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace ponk::nvml;
using namespace ponk::nvml::stand_in;

namespace {

// Calls `take` with the device when it answers and has `key`.
template <class Take>
int with(Handle handle, const char* key, const Take& take)
{
    const auto device = section_of(handle);
    if (device.has("status")) return static_cast<int>(device.numbers("status")[0]);
    if (!device.has(key)) return not_supported;
    take(device);
    return success;
}

int copy_text(Handle handle, const char* key, char* out, unsigned room)
{
    return with(handle, key, [&](const Section& device) {
        std::snprintf(out, room, "%s", device.text(key).c_str());
    });
}

int one_number(Handle handle, const char* key, unsigned* out)
{
    return with(handle, key, [&](const Section& device) {
        *out = static_cast<unsigned>(device.numbers(key)[0]);
    });
}

int nth_of_kind(const char* kind, int card, unsigned index, Handle* out)
{
    const auto state = read_state();
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (state[i].kind != kind || state[i].card != card || index-- != 0) continue;
        *out = handle_of(i);
        return success;
    }
    return not_found;
}

int list_processes(Handle handle, const char* key, unsigned* count, void* out, std::size_t size)
{
    const auto device = section_of(handle);
    if (device.has("status")) return static_cast<int>(device.numbers("status")[0]);
    if (device.text("wide") == "yes") size = sizeof(ProcessWide);
    const auto [begin, end] = device.lines.equal_range(key);
    const auto found = static_cast<unsigned>(std::distance(begin, end));
    const bool fits = found <= *count;
    *count = found;
    if (!fits) return insufficient_size;
    auto* at = static_cast<char*>(out);
    for (auto line = begin; line != end; ++line, at += size) {
        Section words;
        words.lines.emplace("x", line->second);
        const auto numbers = words.numbers("x");
        ProcessWide entry{
            static_cast<unsigned>(numbers[0]), numbers[1], no_instance, no_instance, 0};
        std::memcpy(at, &entry, size);
    }
    return success;
}

std::uint64_t wall_us()
{
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
}

}  // namespace

extern "C" {

int nvmlDeviceGetName(Handle device, char* out, unsigned room)
{
    return copy_text(device, "name", out, room);
}
int nvmlDeviceGetUUID(Handle device, char* out, unsigned room)
{
    return copy_text(device, "uuid", out, room);
}
int nvmlSystemGetDriverVersion(char* out, unsigned room)
{
    std::snprintf(out, room, "%s", driver().text("version").c_str());
    return success;
}
const char* nvmlErrorString(int status)
{
    if (status == gpu_is_lost) return "GPU is lost";
    if (status == no_permission) return "Insufficient Permissions";
    return "Unknown Error";
}
int nvmlDeviceGetMemoryInfo(Handle handle, Memory* out)
{
    return with(handle, "memory", [&](const Section& device) {
        const auto figures = device.numbers("memory");
        *out = {figures[0], figures[0] - figures[1], figures[1]};
    });
}
int nvmlDeviceGetUtilizationRates(Handle handle, Utilisation* out)
{
    return with(handle, "utilisation", [&](const Section& device) {
        *out = {static_cast<unsigned>(device.numbers("utilisation")[0]), 0};
    });
}

#ifdef PONK_FIRST_NAMES_ONLY

int nvmlInit()
{
    return static_cast<int>(driver().numbers("init").at(0));
}
int nvmlDeviceGetCount(unsigned* out)
{
    Handle ignored = nullptr;
    for (*out = 0; nth_of_kind("gpu", -1, *out, &ignored) == success;)
        ++*out;
    return success;
}
int nvmlDeviceGetHandleByIndex(unsigned index, Handle* out)
{
    return nth_of_kind("gpu", -1, index, out);
}
int nvmlDeviceGetComputeRunningProcesses(Handle device, unsigned* count, void* out)
{
    return list_processes(device, "compute", count, out, sizeof(ProcessV1));
}

#else

int nvmlInit_v2()
{
    return static_cast<int>(driver().numbers("init").at(0));
}
int nvmlSystemGetCudaDriverVersion_v2(int* out)
{
    *out = static_cast<int>(driver().numbers("cuda").at(0));
    return success;
}
int nvmlDeviceGetCount_v2(unsigned* out)
{
    Handle ignored = nullptr;
    for (*out = 0; nth_of_kind("gpu", -1, *out, &ignored) == success;)
        ++*out;
    return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* out)
{
    const int status = nth_of_kind("gpu", -1, index, out);
    if (status != success) return status;
    const auto device = section_of(*out);
    return device.has("status") ? static_cast<int>(device.numbers("status")[0]) : success;
}
int nvmlDeviceGetCudaComputeCapability(Handle handle, int* major, int* minor)
{
    return with(handle, "capability", [&](const Section& device) {
        *major = static_cast<int>(device.numbers("capability")[0]);
        *minor = static_cast<int>(device.numbers("capability")[1]);
    });
}
int nvmlDeviceGetMaxClockInfo(Handle device, int, unsigned* out)
{
    return one_number(device, "max_clock", out);
}
int nvmlDeviceGetClockInfo(Handle device, int, unsigned* out)
{
    return one_number(device, "clock", out);
}
int nvmlDeviceGetPciInfo_v3(Handle handle, void* out)
{
    // The true structure: 68 bytes. Writing more than a caller of ours expects would be noticed.
    return with(handle, "pci", [&](const Section& device) {
        const auto place = device.numbers("pci");
        unsigned numbers[5] = {static_cast<unsigned>(place[0]),
                               static_cast<unsigned>(place[1]),
                               static_cast<unsigned>(place[2]),
                               0,
                               0};
        std::memset(out, 0, 68);
        std::memcpy(static_cast<char*>(out) + 16, numbers, sizeof numbers);
    });
}
int nvmlDeviceGetMinorNumber(Handle device, unsigned* out)
{
    return one_number(device, "minor", out);
}
int nvmlDeviceGetMemoryInfo_v2(Handle handle, MemoryV2* out)
{
    if (out->version != 0x02000028) return 25;
    return with(handle, "memory", [&](const Section& device) {
        const auto figures = device.numbers("memory");
        *out = {out->version, figures[0], 0, figures[0] - figures[1], figures[1]};
    });
}
int nvmlDeviceGetPowerUsage(Handle device, unsigned* out)
{
    return one_number(device, "power", out);
}
int nvmlDeviceGetEnforcedPowerLimit(Handle device, unsigned* out)
{
    return one_number(device, "power_limit", out);
}
int nvmlDeviceGetTotalEnergyConsumption(Handle handle, std::uint64_t* out)
{
    return with(
        handle, "energy", [&](const Section& device) { *out = device.numbers("energy")[0]; });
}
int nvmlDeviceGetTemperature(Handle device, int, unsigned* out)
{
    return one_number(device, "temperature", out);
}
int nvmlDeviceGetTotalEccErrors(Handle handle, int kind, int counter, std::uint64_t* out)
{
    if (kind != 1 || counter != 0) return 2;
    return with(handle, "ecc", [&](const Section& device) { *out = device.numbers("ecc")[0]; });
}
int nvmlDeviceGetComputeRunningProcesses_v3(Handle device, unsigned* count, void* out)
{
    return list_processes(device, "compute", count, out, sizeof(ProcessV2));
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(Handle device, unsigned* count, void* out)
{
    return list_processes(device, "graphics", count, out, sizeof(ProcessV2));
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(Handle device, unsigned* count, void* out)
{
    return list_processes(device, "mps", count, out, sizeof(ProcessV2));
}
int nvmlDeviceGetProcessUtilization(Handle handle,
                                    ProcessUtilisation* out,
                                    unsigned* count,
                                    std::uint64_t seen)
{
    const auto device = section_of(handle);
    const auto [begin, end] = device.lines.equal_range("busy");
    const auto found = static_cast<unsigned>(std::distance(begin, end));
    if (found == 0) return not_found;
    if (!out || *count < found) {
        *count = found;
        return insufficient_size;
    }
    *count = 0;
    for (auto line = begin; line != end; ++line) {
        Section words;
        words.lines.emplace("x", line->second);
        const auto numbers = words.numbers("x");
        // By default just after what was seen; else as long ago as the third number says.
        const auto time = numbers.size() > 2 ? wall_us() - numbers[2] * 1000 : seen + 1000;
        if (time <= seen) continue;
        out[(*count)++] = {
            static_cast<unsigned>(numbers[0]), time, static_cast<unsigned>(numbers[1]), 0, 0, 0};
    }
    return *count == 0 ? not_found : success;
}

int nvmlDeviceGetMigMode(Handle device, unsigned* current, unsigned* pending)
{
    *pending = 0;
    return one_number(device, "mig", current);
}
int nvmlDeviceGetMaxMigDeviceCount(Handle, unsigned* out)
{
    *out = 7;
    return success;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Handle card, unsigned index, Handle* out)
{
    // Its second place is empty, as after an instance was removed.
    if (index == 1) return not_found;
    return nth_of_kind("instance",
                       static_cast<int>(reinterpret_cast<std::uintptr_t>(card)) - 1,
                       index > 1 ? index - 1 : index,
                       out);
}
int nvmlDeviceGetGpuInstanceId(Handle handle, unsigned* out)
{
    return with(handle, "ids", [&](const Section& device) {
        *out = static_cast<unsigned>(device.numbers("ids")[0]);
    });
}
int nvmlDeviceGetComputeInstanceId(Handle handle, unsigned* out)
{
    return with(handle, "ids", [&](const Section& device) {
        *out = static_cast<unsigned>(device.numbers("ids")[1]);
    });
}

// A sample remembers whose it is.
struct Counters {
    std::vector<std::uint64_t> figures;
    std::chrono::steady_clock::time_point time;
};

int nvmlGpmQueryDeviceSupport(Handle handle, GpmSupport* out)
{
    if (out->version != 1) return 25;
    const auto state = read_state();
    const auto number = static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
    out->supported = section_of(handle).has("gpm") ? 1 : 0;
    for (const auto& section : state)
        if (section.card == number && section.has("gpm")) out->supported = 1;
    return success;
}
int nvmlGpmSampleAlloc(GpmSample* out)
{
    *out = new Counters();
    return success;
}
int nvmlGpmSampleFree(GpmSample sample)
{
    delete static_cast<Counters*>(sample);
    return success;
}
int nvmlGpmSampleGet(Handle handle, GpmSample out)
{
    return with(handle, "gpm", [&](const Section& device) {
        *static_cast<Counters*>(out) = {device.numbers("gpm"), std::chrono::steady_clock::now()};
    });
}
int nvmlGpmMigSampleGet(Handle card, unsigned instance, GpmSample out)
{
    const auto number = static_cast<int>(reinterpret_cast<std::uintptr_t>(card)) - 1;
    for (const auto& section : read_state()) {
        if (section.card != number || section.numbers("ids")[0] != instance) continue;
        *static_cast<Counters*>(out) = {section.numbers("gpm"), std::chrono::steady_clock::now()};
        return success;
    }
    return not_found;
}
int nvmlGpmMetricsGet(GpmQuery* query)
{
    const auto* earlier = static_cast<Counters*>(query->earlier);
    const auto* later = static_cast<Counters*>(query->later);
    if (query->version != 1 || later->time - earlier->time < std::chrono::milliseconds(99))
        return 2;
    for (unsigned i = 0; i < query->count; ++i) {
        auto& metric = query->metrics[i];
        const std::size_t place = metric.id == 2 ? 0 : 1;
        metric.status = metric.id == 2 || metric.id == 5 ? success : not_supported;
        if (place < later->figures.size())
            metric.value = static_cast<double>(later->figures[place]);
    }
    return success;
}

int nvmlEventSetCreate(void** out)
{
    static int set = 0;
    *out = &set;
    return success;
}
int nvmlEventSetFree(void*)
{
    return success;
}
int nvmlDeviceRegisterEvents(Handle, std::uint64_t types, void*)
{
    return types == 8 ? success : not_supported;
}
int nvmlEventSetWait_v2(void*, EventData* out, unsigned)
{
    static std::map<std::string, std::string> told;
    const auto state = read_state();
    for (std::size_t i = 0; i < state.size(); ++i) {
        const auto xid = state[i].text("xid");
        auto& before = told[state[i].text("uuid")];
        if (xid.empty() || before == xid) continue;
        before = xid;
        *out = {handle_of(i), 8, std::strtoull(xid.c_str(), nullptr, 10), no_instance, no_instance};
        return success;
    }
    return timeout;
}

#endif
}

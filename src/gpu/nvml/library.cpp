// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/library.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

// The names that libraries have offered since long ago: this program must start where glibc is
// older than where it was built.
#if defined(__x86_64__)
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror,dlerror@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlopen,dlopen@GLIBC_2.17");
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
__asm__(".symver dlerror,dlerror@GLIBC_2.17");
#endif

namespace ponk::nvml {

namespace {

constexpr const char* library_name = "libnvidia-ml.so.1";
constexpr const char* folders[] = {"",  // where the loader looks
                                   "/usr/lib/x86_64-linux-gnu/",
                                   "/usr/lib/aarch64-linux-gnu/",
                                   "/usr/lib64/",
                                   "/usr/lib/",
                                   "/usr/lib/x86_64-linux-gnu/nvidia/current/",
                                   "/usr/local/nvidia/lib64/",
                                   "/usr/lib/wsl/lib/",
                                   "/run/opengl-driver/lib/"};

void* open_library(char* reason, std::size_t room)
{
    reason[0] = '\0';
    for (const char* folder : folders) {
        char path[256];
        std::snprintf(path, sizeof path, "%s%s", folder, library_name);
        if (void* found = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return found;
        // One that is there but does not load has the better reason.
        if (*folder == '\0' || access(path, F_OK) == 0) {
            const char* said = dlerror();
            std::snprintf(reason, room, "%s", said ? said : "unknown reason");
        }
    }
    return nullptr;
}

// The first of `names` that the library has; how many were tried before it.
template <class Function>
int find(void* library, Function& out, const char* name, const char* older = nullptr)
{
    void* found = dlsym(library, name);
    const int tried = found ? 0 : 1;
    if (!found && older) found = dlsym(library, older);
    std::memcpy(&out, &found, sizeof out);
    return tried;
}

void find_devices(void* at, Library& library)
{
    find(at, library.init, "nvmlInit_v2", "nvmlInit");
    find(at, library.error_string, "nvmlErrorString");
    find(at, library.driver_version, "nvmlSystemGetDriverVersion");
    find(at,
         library.cuda_version,
         "nvmlSystemGetCudaDriverVersion_v2",
         "nvmlSystemGetCudaDriverVersion");
    find(at, library.count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
    find(at, library.by_index, "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex");
    find(at, library.uuid, "nvmlDeviceGetUUID");
    find(at, library.name, "nvmlDeviceGetName");
    find(at, library.compute_capability, "nvmlDeviceGetCudaComputeCapability");
    find(at, library.max_clock, "nvmlDeviceGetMaxClockInfo");
    find(at, library.clock, "nvmlDeviceGetClockInfo");
    if (find(at, library.pci_info, "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2") &&
        !library.pci_info)
        find(at, library.pci_info, "nvmlDeviceGetPciInfo");
    find(at, library.minor_number, "nvmlDeviceGetMinorNumber");
    find(at, library.mig_mode, "nvmlDeviceGetMigMode");
    find(at, library.mig_most, "nvmlDeviceGetMaxMigDeviceCount");
    find(at, library.mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
    find(at, library.gpu_instance, "nvmlDeviceGetGpuInstanceId");
    find(at, library.compute_instance, "nvmlDeviceGetComputeInstanceId");
}

void find_figures(void* at, Library& library)
{
    find(at, library.memory, "nvmlDeviceGetMemoryInfo");
    find(at, library.memory_v2, "nvmlDeviceGetMemoryInfo_v2");
    find(at, library.utilisation, "nvmlDeviceGetUtilizationRates");
    find(at, library.power, "nvmlDeviceGetPowerUsage");
    find(at,
         library.power_limit,
         "nvmlDeviceGetEnforcedPowerLimit",
         "nvmlDeviceGetPowerManagementLimit");
    find(at, library.energy, "nvmlDeviceGetTotalEnergyConsumption");
    find(at, library.temperature, "nvmlDeviceGetTemperature");
    find(at, library.temperature_v1, "nvmlDeviceGetTemperatureV");
    find(at, library.ecc_errors, "nvmlDeviceGetTotalEccErrors");
    find(at, library.process_utilisation, "nvmlDeviceGetProcessUtilization");
    constexpr const char* lists[3] = {"Compute", "Graphics", "MPSCompute"};
    for (int i = 0; i < 3; ++i) {
        char newest[64];
        char newer[64];
        char oldest[64];
        std::snprintf(newest, sizeof newest, "nvmlDeviceGet%sRunningProcesses_v3", lists[i]);
        std::snprintf(newer, sizeof newer, "nvmlDeviceGet%sRunningProcesses_v2", lists[i]);
        std::snprintf(oldest, sizeof oldest, "nvmlDeviceGet%sRunningProcesses", lists[i]);
        find(at, library.processes[i], newest, newer);
        if (library.processes[i]) continue;
        find(at, library.processes[i], oldest);
        library.first_version[i] = true;
    }
    find(at, library.gpm_support, "nvmlGpmQueryDeviceSupport");
    find(at, library.gpm_alloc, "nvmlGpmSampleAlloc");
    find(at, library.gpm_free, "nvmlGpmSampleFree");
    find(at, library.gpm_sample, "nvmlGpmSampleGet");
    find(at, library.gpm_mig_sample, "nvmlGpmMigSampleGet");
    find(at, library.gpm_metrics, "nvmlGpmMetricsGet");
    find(at, library.event_set, "nvmlEventSetCreate");
    find(at, library.register_events, "nvmlDeviceRegisterEvents");
    find(at, library.event_wait, "nvmlEventSetWait_v2", "nvmlEventSetWait");
    find(at, library.event_free, "nvmlEventSetFree");
}

// The version of the kernel's part, from "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.1 …":
// the first word that is digits and points.
void module_version(char* out, std::size_t room)
{
    std::snprintf(out, room, "of an unknown version");
    std::FILE* file = std::fopen("/proc/driver/nvidia/version", "re");
    if (!file) return;
    char line[512] = {};
    const bool read = std::fgets(line, sizeof line, file) != nullptr;
    std::fclose(file);
    if (!read) return;
    char* rest = nullptr;
    for (char* word = strtok_r(line, " \t\n", &rest); word;
         word = strtok_r(nullptr, " \t\n", &rest)) {
        if (std::strspn(word, "0123456789.") == std::strlen(word) && std::strchr(word, '.')) {
            std::snprintf(out, room, "%s", word);
            return;
        }
    }
}

void explain(const Library& library, int status, Problem& problem)
{
    char version[64];
    module_version(version, sizeof version);
    switch (status) {
    case version_mismatch:
        problem.say(
            "unavailable",
            "the NVIDIA driver was changed while its old kernel module (%s) is still loaded",
            version);
        problem.advise(
            "Restart the machine, or load the new module while no program uses a GPU: 'sudo rmmod "
            "nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia'.");
        return;
    case driver_not_loaded:
        problem.say("unavailable",
                    "the NVIDIA driver is installed, but its kernel module is not loaded");
        problem.advise("Run 'sudo modprobe nvidia'. If there is no module for this kernel (after a "
                       "kernel upgrade), install the driver again.");
        return;
    case no_permission:
    case operating_system:
        problem.say(
            "unavailable", "the NVIDIA driver refuses this user: %s", status_text(library, status));
        problem.advise("Check 'ls -l /dev/nvidia*': join the group that may use these files, or "
                       "ask the administrator to allow access.");
        return;
    default:
        problem.say(
            "unavailable", "the NVIDIA driver does not start: %s", status_text(library, status));
        problem.advise(
            "Try 'nvidia-smi'; 'sudo dmesg | grep -i nvrm' shows messages of the driver.");
    }
}

}  // namespace

void Problem::say(const char* new_kind, const char* format, ...)
{
    kind = new_kind;
    std::va_list words;
    va_start(words, format);
    std::vsnprintf(message, sizeof message, format, words);
    va_end(words);
}

void Problem::advise(const char* format, ...)
{
    std::va_list words;
    va_start(words, format);
    std::vsnprintf(hint, sizeof hint, format, words);
    va_end(words);
}

const char* status_text(const Library& library, int status)
{
    if (library.error_string) {
        if (const char* said = library.error_string(status)) return said;
    }
    static char text[32];
    std::snprintf(text, sizeof text, "status %d", status);
    return text;
}

bool load(Library& library, Problem& problem)
{
    char reason[400];
    void* at = open_library(reason, sizeof reason);
    if (!at) {
        problem.say("not_found", "the NVIDIA driver's library cannot be loaded: %s", reason);
        problem.advise("Install the package with '%s' (libnvidia-ml1, libnvidia-compute-NNN, "
                       "nvidia-driver-libs) in the driver's version.",
                       library_name);
        return false;
    }
    find_devices(at, library);
    find_figures(at, library);
    if (!library.init || !library.count || !library.by_index || !library.uuid) {
        problem.say("not_found", "'%s' is too old or not NVIDIA's", library_name);
        problem.advise("Install a current driver.");
        return false;
    }
    const int status = library.init();
    if (status == success) return true;
    explain(library, status, problem);
    return false;
}

}  // namespace ponk::nvml

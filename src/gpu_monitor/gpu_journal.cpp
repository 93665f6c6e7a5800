// SPDX-License-Identifier: Apache-2.0
#include "gpu_monitor/gpu_journal.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_folder.hpp"
#include "model/metric_journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::gpu_monitor {

GpuJournal::GpuJournal(const executor::RunDirectory& directory,
                       const std::string& run,
                       const std::vector<gpu::Device>& devices,
                       std::int64_t started)
    : started_(started)
{
    for (unsigned i = 0; i < devices.size(); ++i)
        places_.emplace(devices[i].uuid, i);
    // The script may have begun: what it put in the place of the folder is not followed.
    ::mkdir((directory.task() / executor::control::journal).c_str(), 0700);
    const auto folder = executor::RunFolder::open(
        directory.root(), executor::RunDirectory::task_part() / executor::control::journal);
    if (folder)
        file_ = os::Fd(::openat(folder->fd(),
                                fmt::format("gpu-{}.journal", to_hex(random_bytes(4))).c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                                0600));
    write(JsonObject{{"journal", 1}, {"run", run}, {"pid", ::getpid()}, {"time", started}});
}

void GpuJournal::write(const Json& payload)
{
    if (file_) static_cast<void>(os::write_all(file_.get(), model::journal_record(payload)));
}

void GpuJournal::add(const gpu::Sample& sample)
{
    for (const auto& device : sample.devices) {
        const auto place = places_.find(device.uuid);
        if (place == places_.end()) continue;
        const auto log = [&](const char* name, const std::optional<double>& value, double factor) {
            if (!value) return;
            write(JsonObject{{"metric", fmt::format("system/gpu.{}.{}", place->second, name)},
                             {"value", *value * factor},
                             {"step", std::max<std::int64_t>(0, (sample.time - started_) / 1000)},
                             {"time", sample.time}});
        };
        log("utilisation", device.utilisation, 100);
        log("sm_activity", device.sm_activity, 100);
        log("tensor_activity", device.tensor_activity, 100);
        if (device.memory_used) log("memory_used", static_cast<double>(*device.memory_used), 1);
        log("power", device.power_watts, 1);
        log("temperature", device.temperature, 1);
        if (device.energy_joules) {
            const auto [first, added] = first_energy_.emplace(device.uuid, *device.energy_joules);
            log("energy", *device.energy_joules - first->second, 1);
        }
    }
}

}  // namespace ponk::gpu_monitor

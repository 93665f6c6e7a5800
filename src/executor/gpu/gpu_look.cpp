// SPDX-License-Identifier: Apache-2.0
#include "executor/gpu/gpu_look.hpp"

#include "executor/gpu/gpu_leases.hpp"
#include "executor/gpu/gpu_processes.hpp"
#include "os/wait.hpp"

#include <algorithm>

namespace ponk::executor {

using namespace std::chrono_literals;

namespace {

constexpr auto start_limit = 30s;  // a driver without persistence wakes each card
constexpr auto answer_limit = 15s;
constexpr auto keep_open = 30s;

// The card's figures, without what is told elsewhere.
JsonObject figures_of(const Json& sample)
{
    JsonObject figures;
    for (const auto& [key, value] : sample.as_object())
        if (key != "uuid" && key != "processes") figures.set(key, value);
    return figures;
}

}  // namespace

GpuLook::GpuLook(os::Path lib) : lib_(std::move(lib)) {}

GpuLook::~GpuLook()
{
    std::jthread closer;
    {
        const auto kept = kept_.lock();
        closer = std::move(kept->closer);
    }
    closer.request_stop();
}

Result<GpuLook::Open> GpuLook::take(const std::vector<std::string>& environment,
                                    const std::stop_token& stop)
{
    Open open;
    {
        const auto kept = kept_.lock();
        if (kept->open.probe && kept->open.environment == environment) open = std::move(kept->open);
    }
    if (open.probe) return open;
    open.environment = environment;
    open.probe =
        TRY(gpu::open_probe({.lib = lib_, .environment = environment}, after(start_limit), stop));
    return open;
}

void GpuLook::give_back(Open open)
{
    Open before;
    const auto kept = kept_.lock();
    before = std::exchange(kept->open, std::move(open));
    kept->unused_since = Deadline::clock::now();
    if (std::exchange(kept->closing, true)) return;
    kept->closer = std::jthread([this](const std::stop_token& stop) { close_when_unused(stop); });
}

void GpuLook::close_when_unused(const std::stop_token& stop)
{
    while (os::sleep_for(keep_open / 3, stop)) {
        Open unused;  // its process is ended after the lock is let go
        const auto kept = kept_.lock();
        if (Deadline::clock::now() - kept->unused_since < keep_open) continue;
        unused = std::move(kept->open);
        kept->closing = false;
        return;
    }
}

Result<Json> GpuLook::look(const std::vector<std::string>& environment, const std::stop_token& stop)
{
    auto open = TRY(take(environment, stop));
    auto inventory = TRY(open.probe->inventory(after(answer_limit), stop));
    auto answer = to_json(inventory).as_object();
    JsonArray devices;
    if (!inventory.devices.empty()) {
        const auto sample = TRY(open.probe->sample(after(answer_limit), stop));
        answer.set("time", sample.time);
        for (const auto& device : inventory.devices) {
            auto entry = to_json(device).as_object();
            const auto found =
                std::find_if(sample.devices.begin(), sample.devices.end(), [&](const auto& one) {
                    return one.uuid == device.uuid;
                });
            if (found != sample.devices.end()) {
                const auto one = to_json(gpu::Sample{.time = 0, .devices = {*found}});
                entry.set("sample", figures_of(one["devices"].as_array().front()));
                entry.set("processes", describe_processes(found->processes));
            }
            devices.emplace_back(std::move(entry));
        }
    }
    add_leases(devices, environment);
    answer.set("devices", std::move(devices));
    // One that failed to start may do better next time.
    if (!inventory.devices.empty()) give_back(std::move(open));
    return answer;
}

}  // namespace ponk::executor

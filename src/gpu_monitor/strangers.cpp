// SPDX-License-Identifier: Apache-2.0
#include "gpu_monitor/strangers.hpp"

#include "base/text.hpp"
#include "gpu/process_facts.hpp"
#include "os/file.hpp"
#include "os/identity.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::gpu_monitor {

namespace {

// Memory that the driver itself keeps, and what a screen needs, is no sign of a run.
std::uint64_t quiet_memory(const gpu::Device& device)
{
    return std::max<std::uint64_t>(std::uint64_t{1} << 30U, device.memory_total / 50);
}

std::string owner_of(pid_t pid)
{
    const auto rights = gpu::find_credentials("/proc", pid);
    return rights ? os::user_name(rights->user) : std::string();
}

std::string describe(const gpu::DeviceProcess& process)
{
    auto text = fmt::format("is used: process {}", process.pid);
    if (const auto name = os::read_file(fmt::format("/proc/{}/comm", process.pid), 256))
        text += fmt::format(" ({})", printable(trim(*name)));
    if (const auto user = owner_of(process.pid); !user.empty()) text += " of " + user;
    if (process.memory > 0) text += " holds " + byte_size_text(process.memory);
    return text;
}

}  // namespace

std::vector<std::string> describe_strangers(const gpu::Device& device, const gpu::Sample& sample)
{
    std::vector<std::string> out;
    const auto say = [&](const std::string& what) {
        out.push_back(fmt::format("GPU {} ({}) {}", device.index, printable(device.uuid), what));
    };
    for (const auto& seen : sample.devices) {
        if (seen.uuid != device.uuid) continue;
        bool anybody = false;
        for (const auto& process : seen.processes) {
            if (process.ended) continue;
            anybody = true;
            if (!process.draws_only) say(describe(process));
        }
        if (!seen.lost.empty())
            say(fmt::format("is lost ({}): restart the machine, or request the others by UUID",
                            printable(seen.lost)));
        if (!anybody && seen.memory_used.value_or(0) > quiet_memory(device))
            say(fmt::format("is used: {} of its memory are held by a process that cannot be seen "
                            "(one that did not end cleanly, or one in a container)",
                            byte_size_text(*seen.memory_used)));
    }
    return out;
}

std::vector<std::string> waiting_sentences(const gpu::Waiting& waiting)
{
    std::vector<std::string> out;
    if (waiting.position > 1 && !waiting.ahead.empty()) {
        const auto& next = waiting.ahead.back();
        out.push_back(fmt::format("{} {} before this one in the queue, the nearest of {}",
                                  waiting.ahead.size(),
                                  waiting.ahead.size() == 1 ? "run is" : "runs are",
                                  printable(next.user)));
    }
    out.insert(out.end(), waiting.reasons.begin(), waiting.reasons.end());
    if (out.empty()) out.emplace_back("the GPUs are busy");
    return out;
}

}  // namespace ponk::gpu_monitor

// SPDX-License-Identifier: Apache-2.0
#include "executor/gpu/gpu_processes.hpp"

#include "base/id.hpp"
#include "base/text.hpp"
#include "gpu/process_facts.hpp"
#include "os/file.hpp"
#include "os/identity.hpp"
#include "os/variables.hpp"

namespace ponk::executor {

namespace {

Json user_of(pid_t pid)
{
    const auto rights = gpu::find_credentials("/proc", pid);
    return rights ? Json(os::user_name(rights->user)) : Json();
}

Json run_of(pid_t pid)
{
    const auto environment = gpu::find_environment("/proc", pid);
    if (!environment) return {};
    const auto id = RunId::parse(os::variable(*environment, "PONK_RUN_ID"));
    return id ? Json(id->text()) : Json();
}

}  // namespace

JsonArray describe_processes(const std::vector<gpu::DeviceProcess>& processes)
{
    JsonArray described;
    for (const auto& process : processes) {
        if (process.ended) continue;
        const os::Path folder = fmt::format("/proc/{}", process.pid);
        JsonObject entry{{"pid", process.pid}, {"memory", process.memory}};
        if (process.sm_utilisation) entry.set("sm_utilisation", *process.sm_utilisation);
        entry.set("user", user_of(process.pid));
        const auto name = os::read_file(folder / "comm", 4096);
        entry.set("program", name ? Json(printable(trim(*name))) : Json());
        entry.set("run", run_of(process.pid));
        described.emplace_back(std::move(entry));
    }
    return described;
}

}  // namespace ponk::executor

// SPDX-License-Identifier: Apache-2.0
#include "target/gpu_processes.hpp"

#include "base/id.hpp"
#include "base/text.hpp"
#include "gpu/process_facts.hpp"
#include "os/file.hpp"
#include "os/identity.hpp"

namespace ponk::target {

namespace {

Json user_of(pid_t pid)
{
    const auto rights = gpu::find_credentials("/proc", pid);
    return rights ? Json(os::user_name(rights->user)) : Json();
}

Json run_of(const os::Path& folder)
{
    constexpr std::string_view key = "PONK_RUN_ID=";
    const auto environment = os::read_file(folder / "environ", 4 << 20);
    if (!environment) return {};
    for (const auto& word : split(*environment, '\0')) {
        if (!word.starts_with(key)) continue;
        const auto id = RunId::parse(word.substr(key.size()));
        return id ? Json(id->text()) : Json();
    }
    return {};
}

}  // namespace

JsonArray describe_processes(const std::vector<gpu::DeviceProcess>& processes)
{
    JsonArray described;
    for (const auto& process : processes) {
        const os::Path folder = fmt::format("/proc/{}", process.pid);
        JsonObject entry{{"pid", process.pid}, {"memory", process.memory}};
        if (process.sm_utilisation) entry.set("sm_utilisation", *process.sm_utilisation);
        entry.set("user", user_of(process.pid));
        const auto name = os::read_file(folder / "comm", 4096);
        entry.set("program", name ? Json(printable(trim(*name))) : Json());
        entry.set("run", run_of(folder));
        described.emplace_back(std::move(entry));
    }
    return described;
}

}  // namespace ponk::target

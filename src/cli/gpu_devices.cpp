// SPDX-License-Identifier: Apache-2.0
#include "cli/gpu_devices.hpp"

#include "base/text.hpp"
#include "cli/served.hpp"
#include "cli/submission.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::cli {
namespace {

// The first look at a box copies our helper there.
constexpr std::chrono::seconds look_limit{180};
constexpr std::size_t brief = 8;  // digits of a run's id, from its end

std::uint64_t bytes_at(const Json& object, const char* key)
{
    return static_cast<std::uint64_t>(std::max<std::int64_t>(object.integer(key), 0));
}

void add_name(JsonArray& names, const std::string& name)
{
    if (std::find(names.begin(), names.end(), Json(name)) == names.end()) names.emplace_back(name);
}

}  // namespace

tl::expected<std::vector<std::string>, Failure> gpu_targets(const config::Project& project,
                                                            const Invocation& words)
{
    std::vector<std::string> named = words.values("target");
    for (const auto& name : named)
        TRY(require_runs(TRY(config::load_target(project, name))));
    if (!named.empty()) return named;
    for (const auto& name : project.targets) {
        const auto target = config::load_target(project, name);
        if (target && require_runs(*target)) named.push_back(name);
    }
    return named;
}

Result<Json>
ask_gpus(Daemon& daemon, const os::Path& project, const std::string& target, std::stop_token stop)
{
    return daemon.send("POST",
                       "/gpus",
                       JsonObject{{"project", project.string()},
                                  {"target", target},
                                  {"environment", own_environment()}},
                       Daemon::Repeat::when_broken,
                       look_limit,
                       std::move(stop));
}

JsonArray devices_of(const std::vector<Json>& answers)
{
    JsonArray devices;
    for (const auto& answer : answers) {
        if (!answer["devices"].is_array()) continue;
        for (const auto& device : answer["devices"].as_array()) {
            const auto same = std::find_if(devices.begin(), devices.end(), [&](const Json& other) {
                return other.text("uuid") == device.text("uuid") &&
                       other.text("address") == answer.text("address");
            });
            if (same != devices.end()) {
                add_name(same->as_object().find("targets")->as_array(), answer.text("target"));
                continue;
            }
            JsonObject entry{{"targets", JsonArray{answer.text("target")}},
                             {"address", answer.text("address")}};
            for (const auto& [key, value] : device.as_object())
                entry.set(key, value);
            for (const char* key : {"driver_version", "cuda_version", "way"})
                entry.set(key, answer[key]);
            devices.emplace_back(std::move(entry));
        }
    }
    return devices;
}

std::string memory_text(const Json& device)
{
    constexpr double gib = 1024.0 * 1024 * 1024;
    const auto total = static_cast<double>(bytes_at(device, "memory_total")) / gib;
    if (!device["sample"]["memory_used"].is_integer()) return fmt::format("{:.1f} GiB", total);
    const auto used = static_cast<double>(bytes_at(device["sample"], "memory_used")) / gib;
    return fmt::format("{:.1f} of {:.1f} GiB", used, total);
}

std::string percent_text(const Json& value)
{
    if (!value.is_number()) return "-";
    return fmt::format("{} %", std::lround(value.as_double() * 100));
}

std::string holder_text(const Json& device)
{
    const auto name = [](const Json& one) {
        const auto run = one.text("run");
        auto text = one.text("user", "?");
        if (!run.empty())
            text += ", run " + (run.size() > brief ? run.substr(run.size() - brief) : run);
        return printable(text);
    };
    if (device["lease"].is_object()) return name(device["lease"]);
    std::vector<std::string> names;
    if (device["processes"].is_array()) {
        for (const auto& process : device["processes"].as_array())
            if (auto text = name(process);
                std::find(names.begin(), names.end(), text) == names.end())
                names.push_back(std::move(text));
    }
    return join(names, "; ");
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/gpus/gpu_devices.hpp"

#include "base/text.hpp"
#include "cli/hosts/served.hpp"
#include "cli/runs/submission.hpp"

#include <algorithm>
#include <cmath>

namespace ponk::cli {
namespace {

// The first look at a host copies our helper there.
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

tl::expected<GpuTargets, Failure> gpu_targets(const config::Project& project,
                                              const std::vector<std::string>& named)
{
    for (const auto& name : named)
        TRY(require_runs(TRY(config::load_target(project, name))));
    if (!named.empty()) return GpuTargets{named, {}};
    GpuTargets targets;
    for (const auto& name : project.targets) {
        const auto target = config::load_target(project, name);
        if (!target) {
            // One line for each; 'ponk check' has them all.
            const auto& why = target.error().message();
            targets.skipped.push_back(fmt::format(
                "{}: {}; run 'ponk check' for details", name, why.substr(0, why.find('\n'))));
        } else if (const auto served = require_runs(*target->type); !served) {
            targets.skipped.push_back(fmt::format("{}: {}", name, served.error().error.message()));
        } else {
            targets.names.push_back(name);
        }
    }
    return targets;
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

namespace {

std::string used_by(const Json& device)
{
    const auto lost = device["sample"].text("lost");
    return lost.empty() ? holder_text(device) : "lost: " + printable(lost);
}

// As people read it, or as programs do: plain figures in the units of the JSON document.
enum class For { people, programs };

Json row_of(const Json& device, For whom)
{
    const Json& sample = device["sample"];
    std::vector<std::string> targets;
    for (const Json& name : device["targets"].as_array())
        targets.push_back(name.as_string());
    const auto number = [&](const char* key, const char* unit) {
        if (whom == For::programs || !sample[key].is_number()) return sample[key];
        return Json(fmt::format("{:.0f} {}", sample[key].as_double(), unit));
    };
    const bool people = whom == For::people;
    return JsonObject{
        {"target", join(targets, people ? ", " : ",")},
        {"index", device["index"]},
        {"used_by", used_by(device)},
        {"name", device["name"]},
        {"utilisation", people ? Json(percent_text(sample["utilisation"])) : sample["utilisation"]},
        {"memory_used", people ? Json(memory_text(device)) : sample["memory_used"]},
        {"uuid", device["uuid"]},
        {"temperature", number("temperature", "°C")},
        {"power_watts", number("power_watts", "W")}};
}

}  // namespace

View view_of_gpus(const JsonArray& devices)
{
    JsonArray rows;
    JsonArray exact;
    for (const Json& device : devices) {
        rows.push_back(row_of(device, For::people));
        exact.push_back(row_of(device, For::programs));
    }
    const auto right = output::Align::right;
    using output::whole;
    // Columns that do not fit are left out from the right: who has it matters most.
    return {.rows = std::move(rows),
            .columns = {{.key = "target", .min = 6},
                        {.key = "index", .title = "gpu", .min = whole},
                        {.key = "used_by", .title = "used by", .min = 17},
                        {.key = "name", .min = 18},
                        {.key = "utilisation", .title = "busy", .align = right, .min = whole},
                        {.key = "memory_used", .title = "memory", .align = right, .min = whole},
                        {.key = "uuid", .min = whole},
                        {.key = "temperature", .title = "heat", .align = right, .min = whole},
                        {.key = "power_watts", .title = "power", .align = right, .min = whole}},
            .exact = std::move(exact)};
}

}  // namespace ponk::cli

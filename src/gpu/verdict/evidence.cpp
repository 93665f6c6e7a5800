// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict/verdict.hpp"

#include <limits>

namespace ponk::gpu {

namespace {

double real(const Json& json, const char* key)
{
    const auto& value = json[key];
    return value.is_number() ? value.as_double() : 0;
}

std::optional<double> real_if_any(const Json& json, const char* key)
{
    const auto& value = json[key];
    if (!value.is_number()) return std::nullopt;
    return value.as_double();
}

std::uint64_t size(const Json& json, const char* key)
{
    const auto value = json.integer(key);
    return value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

std::vector<int> whole_numbers(const Json& json)
{
    std::vector<int> out;
    if (!json.is_array()) return out;
    for (const auto& value : json.as_array()) {
        if (value.is_integer() && value.as_integer() >= 0 &&
            value.as_integer() <= std::numeric_limits<int>::max())
            out.push_back(static_cast<int>(value.as_integer()));
    }
    return out;
}

Json to_json(const DeviceEvidence& device)
{
    JsonObject object{
        {"uuid", device.uuid},
        {"name", device.name},
        {"samples", device.samples},
        {"memory_peak", device.memory_peak},
        {"held_seconds", device.held_seconds},
        {"measured_seconds", device.measured_seconds},
        {"worked_seconds", device.worked_seconds},
        {"activity_mean", device.activity_mean},
        {"utilisation_peak", device.utilisation_peak},
        {"pids", JsonArray(device.pids.begin(), device.pids.end())},
        {"shared", device.shared},
        {"activity_from", device.activity_from},
    };
    if (device.sm_activity_mean) object.set("sm_activity_mean", *device.sm_activity_mean);
    if (device.energy_joules) object.set("energy_joules", *device.energy_joules);
    if (device.not_counted_seconds > 0)
        object.set("not_counted_seconds", device.not_counted_seconds);
    if (device.unattributed_seconds > 0)
        object.set("unattributed_seconds", device.unattributed_seconds);
    if (device.unattributed_memory > 0)
        object.set("unattributed_memory", device.unattributed_memory);
    if (!device.xids.empty()) object.set("xids", JsonArray(device.xids.begin(), device.xids.end()));
    if (!device.lost.empty()) object.set("lost", device.lost);
    return object;
}

DeviceEvidence device_evidence_from(const Json& json)
{
    DeviceEvidence device;
    device.uuid = json.text("uuid");
    device.name = json.text("name");
    device.samples = json.integer("samples");
    device.memory_peak = size(json, "memory_peak");
    device.held_seconds = real(json, "held_seconds");
    device.measured_seconds = real(json, "measured_seconds");
    device.worked_seconds = real(json, "worked_seconds");
    device.activity_mean = real(json, "activity_mean");
    device.utilisation_peak = real(json, "utilisation_peak");
    device.sm_activity_mean = real_if_any(json, "sm_activity_mean");
    device.energy_joules = real_if_any(json, "energy_joules");
    device.pids = whole_numbers(json["pids"]);
    device.shared = json.boolean("shared");
    device.activity_from = json.text("activity_from");
    device.not_counted_seconds = real(json, "not_counted_seconds");
    device.unattributed_seconds = real(json, "unattributed_seconds");
    device.unattributed_memory = size(json, "unattributed_memory");
    device.xids = whole_numbers(json["xids"]);
    device.lost = json.text("lost");
    return device;
}

}  // namespace

Json to_json(const Evidence& evidence)
{
    JsonArray devices;
    for (const auto& device : evidence.devices)
        devices.push_back(to_json(device));
    JsonObject object{{"samples", evidence.samples},
                      {"failures", evidence.failures},
                      {"seconds", evidence.seconds},
                      {"devices", std::move(devices)},
                      {"findings", JsonArray(evidence.findings.begin(), evidence.findings.end())}};
    if (!evidence.unmeasured.empty()) object.set("unmeasured", evidence.unmeasured);
    if (!evidence.remains.empty()) object.set("remains", evidence.remains);
    return object;
}

Result<Evidence> evidence_from(const Json& json)
{
    if (!json.is_object()) return fail(ErrorKind::damaged, "the GPU evidence is not an object");
    Evidence evidence;
    evidence.samples = json.integer("samples");
    evidence.failures = json.integer("failures");
    evidence.seconds = real(json, "seconds");
    evidence.unmeasured = json.text("unmeasured");
    evidence.remains = json.text("remains");
    if (const auto& devices = json["devices"]; devices.is_array()) {
        for (const auto& device : devices.as_array())
            evidence.devices.push_back(device_evidence_from(device));
    }
    if (const auto& findings = json["findings"]; findings.is_array()) {
        for (const auto& finding : findings.as_array())
            if (finding.is_string()) evidence.findings.push_back(finding.as_string());
    }
    return evidence;
}

}  // namespace ponk::gpu

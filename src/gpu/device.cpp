// SPDX-License-Identifier: Apache-2.0
#include "gpu/device.hpp"

namespace ponk::gpu {

namespace {

template <class T>
void set_if(JsonObject& object, const char* key, const std::optional<T>& value)
{
    if (value) object.set(key, *value);
}

std::optional<double> real(const Json& json, const char* key)
{
    const auto& value = json[key];
    if (!value.is_number()) return std::nullopt;
    return value.as_double();
}

template <class T>
std::optional<T> whole(const Json& json, const char* key)
{
    const auto& value = json[key];
    if (!value.is_integer() || value.as_integer() < 0) return std::nullopt;
    return static_cast<T>(value.as_integer());
}

const JsonArray& list(const Json& json, const char* key)
{
    static const JsonArray none;
    const auto& value = json[key];
    return value.is_array() ? value.as_array() : none;
}

Json to_json(const DeviceProcess& process)
{
    JsonObject object{{"pid", process.pid}, {"memory", process.memory}};
    set_if(object, "sm_utilisation", process.sm_utilisation);
    set_if(object, "sm_span_ms", process.sm_span_ms);
    if (process.draws_only) object.set("draws_only", true);
    if (process.ended) object.set("ended", true);
    return object;
}

Json to_json(const DeviceSample& sample)
{
    JsonObject object{{"uuid", sample.uuid}};
    set_if(object, "utilisation", sample.utilisation);
    set_if(object, "sm_activity", sample.sm_activity);
    set_if(object, "tensor_activity", sample.tensor_activity);
    set_if(object, "memory_used", sample.memory_used);
    set_if(object, "power_watts", sample.power_watts);
    set_if(object, "energy_joules", sample.energy_joules);
    set_if(object, "temperature", sample.temperature);
    set_if(object, "clock_mhz", sample.clock_mhz);
    set_if(object, "ecc_errors", sample.ecc_errors);
    JsonArray processes;
    for (const auto& process : sample.processes)
        processes.push_back(to_json(process));
    object.set("processes", std::move(processes));
    if (!sample.xids.empty()) {
        JsonArray xids;
        for (const int xid : sample.xids)
            xids.emplace_back(xid);
        object.set("xids", std::move(xids));
    }
    if (!sample.lost.empty()) object.set("lost", sample.lost);
    return object;
}

DeviceSample device_sample_from(const Json& json)
{
    DeviceSample sample{.uuid = json.text("uuid"),
                        .utilisation = real(json, "utilisation"),
                        .sm_activity = real(json, "sm_activity"),
                        .tensor_activity = real(json, "tensor_activity"),
                        .memory_used = whole<std::uint64_t>(json, "memory_used"),
                        .power_watts = real(json, "power_watts"),
                        .energy_joules = real(json, "energy_joules"),
                        .temperature = real(json, "temperature"),
                        .clock_mhz = whole<unsigned>(json, "clock_mhz"),
                        .processes = {},
                        .xids = {},
                        .ecc_errors = whole<std::uint64_t>(json, "ecc_errors"),
                        .lost = json.text("lost")};
    for (const auto& process : list(json, "processes")) {
        sample.processes.push_back({.pid = static_cast<pid_t>(process.integer("pid")),
                                    .memory = whole<std::uint64_t>(process, "memory").value_or(0),
                                    .sm_utilisation = real(process, "sm_utilisation"),
                                    .sm_span_ms = whole<std::int64_t>(process, "sm_span_ms"),
                                    .draws_only = process.boolean("draws_only"),
                                    .ended = process.boolean("ended")});
    }
    for (const auto& xid : list(json, "xids"))
        if (xid.is_integer()) sample.xids.push_back(static_cast<int>(xid.as_integer()));
    return sample;
}

}  // namespace

Json to_json(const Device& device)
{
    JsonObject object{{"uuid", device.uuid},
                      {"index", device.index},
                      {"name", device.name},
                      {"vendor", device.vendor},
                      {"compute_capability", device.compute_capability},
                      {"clock_mhz", device.clock_mhz},
                      {"pci_bus_id", device.pci_bus_id},
                      {"memory_total", device.memory_total},
                      {"memory_free", device.memory_free}};
    if (!device.card.empty()) object.set("card", device.card);
    JsonArray nodes;
    for (const auto& node : device.nodes)
        nodes.emplace_back(node);
    object.set("nodes", std::move(nodes));
    if (device.power_limit > 0) object.set("power_limit_watts", device.power_limit);
    return object;
}

Json to_json(const Inventory& inventory)
{
    JsonArray devices;
    for (const auto& device : inventory.devices)
        devices.push_back(to_json(device));
    JsonObject object{{"way", inventory.way},
                      {"driver_version", inventory.driver_version},
                      {"cuda_version", inventory.cuda_version},
                      {"devices", std::move(devices)}};
    if (inventory.problem)
        object.set("problem",
                   JsonObject{{"kind", to_string(inventory.problem->kind())},
                              {"message", inventory.problem->message()},
                              {"hint", inventory.problem->hint()}});
    return object;
}

Json to_json(const Sample& sample)
{
    JsonArray devices;
    for (const auto& device : sample.devices)
        devices.push_back(to_json(device));
    return JsonObject{{"time", sample.time}, {"devices", std::move(devices)}};
}

Result<Device> device_from(const Json& json)
{
    Device device{.uuid = json.text("uuid"),
                  .card = json.text("card"),
                  .index = whole<unsigned>(json, "index").value_or(0),
                  .name = json.text("name"),
                  .vendor = json.text("vendor"),
                  .compute_capability = json.text("compute_capability"),
                  .clock_mhz = whole<unsigned>(json, "clock_mhz").value_or(0),
                  .pci_bus_id = json.text("pci_bus_id"),
                  .memory_total = whole<std::uint64_t>(json, "memory_total").value_or(0),
                  .memory_free = whole<std::uint64_t>(json, "memory_free").value_or(0),
                  .nodes = {},
                  .power_limit = real(json, "power_limit_watts").value_or(0)};
    // The name of a lock file is made of it.
    if (device.uuid.empty() || device.uuid.size() > 200 ||
        device.uuid.find_first_of(std::string("/\0", 2)) != std::string::npos)
        return fail(ErrorKind::damaged, "a GPU without a usable 'uuid'");
    for (const auto& node : list(json, "nodes"))
        if (node.is_string()) device.nodes.push_back(node.as_string());
    return device;
}

Result<Inventory> inventory_from(const Json& json)
{
    if (!json.is_object())
        return fail(ErrorKind::damaged, "the report of the GPUs is not an object");
    Inventory inventory{.way = json.text("way"),
                        .driver_version = json.text("driver_version"),
                        .cuda_version = json.text("cuda_version"),
                        .devices = {},
                        .problem = std::nullopt};
    for (const auto& device : list(json, "devices"))
        inventory.devices.push_back(TRY(device_from(device)));
    if (const auto& problem = json["problem"]; problem.is_object())
        inventory.problem = Error(
            error_kind_from(problem.text("kind")), problem.text("message"), problem.text("hint"));
    return inventory;
}

Result<Sample> sample_from(const Json& json)
{
    if (!json.is_object()) return fail(ErrorKind::damaged, "a GPU sample is not an object");
    Sample sample{.time = json.integer("time"), .devices = {}};
    for (const auto& device : list(json, "devices"))
        sample.devices.push_back(device_sample_from(device));
    return sample;
}

}  // namespace ponk::gpu

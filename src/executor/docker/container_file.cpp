// SPDX-License-Identifier: Apache-2.0
#include "executor/docker/container_file.hpp"

#include "dockerapi/engine.hpp"

namespace ponk::executor::docker {

namespace {

using dockerapi::ContainerSpec;
using dockerapi::Mount;
using dockerapi::texts_of;

Json words(const std::vector<std::string>& list)
{
    return JsonArray(list.begin(), list.end());
}

}  // namespace

Json to_json(const ContainerSpec& spec)
{
    JsonArray labels;
    for (const auto& [name, value] : spec.labels)
        labels.emplace_back(JsonArray{name, value});
    JsonArray mounts;
    for (const auto& mount : spec.mounts)
        mounts.emplace_back(JsonArray{
            mount.source, mount.target, mount.access == Mount::Access::read_only ? "ro" : "rw"});
    return JsonObject{{"name", spec.name},
                      {"image", spec.image},
                      {"command", words(spec.command)},
                      {"environment", words(spec.environment)},
                      {"user", spec.user},
                      {"directory", spec.directory},
                      {"network", spec.network},
                      {"runtime", spec.runtime},
                      {"labels", std::move(labels)},
                      {"mounts", std::move(mounts)},
                      {"shared_memory", spec.shared_memory},
                      {"memory", spec.memory},
                      {"process_limit", spec.process_limit},
                      {"host_settings", spec.host_settings}};
}

Result<ContainerSpec> container_from(const Json& json)
{
    ContainerSpec spec{.name = json.text("name"),
                       .image = json.text("image"),
                       .command = texts_of(json["command"]),
                       .environment = texts_of(json["environment"]),
                       .user = json.text("user"),
                       .directory = json.text("directory"),
                       .network = json.text("network"),
                       .runtime = json.text("runtime"),
                       .labels = {},
                       .mounts = {},
                       .shared_memory = json.integer("shared_memory"),
                       .memory = json.integer("memory"),
                       .process_limit = json.integer("process_limit"),
                       .host_settings = {}};
    const auto damaged = [] { return fail(ErrorKind::damaged, "not a container record"); };
    if (spec.name.empty() || spec.image.empty() || !json["labels"].is_array() ||
        !json["mounts"].is_array() || !json["host_settings"].is_object())
        return damaged();
    for (const auto& label : json["labels"].as_array()) {
        const auto pair = texts_of(label);
        if (pair.size() != 2) return damaged();
        spec.labels.emplace_back(pair[0], pair[1]);
    }
    for (const auto& mount : json["mounts"].as_array()) {
        const auto parts = texts_of(mount);
        if (parts.size() != 3) return damaged();
        spec.mounts.push_back(
            {parts[0],
             parts[1],
             parts[2] == "ro" ? Mount::Access::read_only : Mount::Access::read_write});
    }
    spec.host_settings = json["host_settings"].as_object();
    return spec;
}

}  // namespace ponk::executor::docker

// SPDX-License-Identifier: Apache-2.0
#include "model/run_spec_v1.hpp"

namespace ponk::model {

namespace {

Result<std::vector<std::string>> words(const Json& json, std::string_view name)
{
    std::vector<std::string> out;
    const auto& list = json[name];
    if (list.is_null()) return out;
    if (!list.is_array())
        return fail(ErrorKind::damaged, "run specification: '{}' is not a list", name);
    for (const auto& item : list.as_array()) {
        if (!item.is_string())
            return fail(ErrorKind::damaged,
                        "run specification: '{}' contains something other than text",
                        name);
        out.push_back(item.as_string());
    }
    return out;
}

Variables variables_of(const Json& json)
{
    Variables out;
    if (!json.is_object()) return out;
    for (const auto& [name, item] : json.as_object()) {
        if (item.is_string()) out.emplace_back(name, item.as_string());
    }
    return out;
}

Result<Container> container_of(const Json& json)
{
    auto arguments = TRY(words(json, "arguments"));
    return Container{.image = json.text("image"),
                     .pinned = json.text("pinned"),
                     .tree = json.boolean("tree_mounted", true) ? Container::Tree::mounted
                                                                : Container::Tree::copied,
                     .build_network = json.text("build_network"),
                     .shm_size = json.text("shm_size"),
                     .arguments = std::move(arguments),
                     .registry_username = json.text("registry_username"),
                     .registry_password = json.text("registry_password")};
}

}  // namespace

GpuRequest gpu_request_v1(const Json& json)
{
    using Request = GpuRequest;
    return {.selection = json.text("wish"),  // as that version stored it
            .origin = json.boolean("asked") ? Request::Origin::asked : Request::Origin::usual,
            .need = json.boolean("required") ? Request::Need::required : Request::Need::wanted,
            .busy = json.boolean("refuse") ? Request::Busy::refuse : Request::Busy::wait,
            .grace = std::chrono::seconds(json.integer("grace_seconds", 600))};
}

Result<RunSpec> parse_run_spec_v1(const Json& json)
{
    RunSpec spec;
    spec.run_configuration = json.text("run_configuration");
    auto& program = spec.program;
    program.framework = json.text("framework");
    program.script = json.text("script");
    program.arguments = TRY(words(json, "arguments"));
    program.command = TRY(words(json, "command"));
    program.interpreter = json.text("interpreter");
    program.spark_options = TRY(words(json, "spark_options"));
    program.variables = variables_of(json["variables"]);
    program.tensorboard = json.text("tensorboard");
    spec.resources = {.gpu = gpu_request_v1(json["gpu"]),
                      .time_limit = std::chrono::seconds(json.integer("time_limit_seconds"))};
    spec.location.target = json.text("target");
    if (const auto& host = json["box"]; host.is_object()) {
        spec.location.kind = Location::Kind::host;
        spec.location.host = {.address = host.text("address"),
                              .port = static_cast<int>(host.integer("port")),
                              .user = host.text("user"),
                              .scratch = host.text("scratch"),
                              .private_key = host.text("private_key")};
    }
    const auto& container = json["container"];
    if (container.is_object()) spec.runtime.container = TRY(container_of(container));
    const auto shared = json.text("shared_directory");
    spec.runtime.shared_directory = shared;
    // Which folder its file named was not stored; the usual one ends alike for every user.
    auto folder = shared.substr(0, shared.find_last_of('/') + 1);
    while (folder.ends_with('/'))
        folder.pop_back();
    if (!shared.empty() && !folder.ends_with("/.azureml/share"))
        spec.runtime.named_shared_directory = folder;
    const bool builds = json.boolean("prepare", container.boolean("prepare", true));
    using Environment = EnvironmentSpec;
    spec.environment = {
        .file = json.text("conda_file"),
        .missing = builds ? Environment::Missing::build : Environment::Missing::refuse,
        .substitutions = json.boolean("substitute") ? Environment::Substitutions::known
                                                    : Environment::Substitutions::none,
        .lock_digest = json.text("lock_digest")};
    spec.policy.purpose =
        json.boolean("only_prepare") ? Policy::Purpose::prepare : Policy::Purpose::run;
    spec.policy.tracked = json.boolean("tracked", true);
    spec.policy.collect_outputs = json.boolean("collect_outputs", true);
    spec.policy.may_promote = json.boolean("may_promote");
    return spec;
}

}  // namespace ponk::model

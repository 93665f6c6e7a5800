// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.hpp"
#include "engine/plan/words_json.hpp"
#include "executor/job/gpu_request.hpp"
#include "secrets/secrets.hpp"

namespace ponk::engine {

Json words_to_json(const std::vector<std::string>& words)
{
    JsonArray items;
    for (const auto& word : words)
        items.emplace_back(word);
    return items;
}

Result<std::vector<std::string>> words_from_json(const Json& value, std::string_view what)
{
    std::vector<std::string> words;
    if (value.is_null()) return words;
    if (!value.is_array()) return fail(ErrorKind::damaged, "stored plan: '{}' is not a list", what);
    for (const auto& item : value.as_array()) {
        if (!item.is_string())
            return fail(
                ErrorKind::damaged, "stored plan: '{}' contains something other than text", what);
        words.push_back(item.as_string());
    }
    return words;
}

Json to_json(const Plan& plan)
{
    JsonObject variables;
    for (const auto& [name, value] : plan.variables)
        variables.set(name, value);
    JsonObject out{{"run_configuration", plan.run_configuration},
                   {"target", plan.target},
                   {"target_type", plan.target_type},
                   {"framework", plan.framework},
                   {"script", plan.script},
                   {"arguments", words_to_json(plan.arguments)},
                   {"command", words_to_json(plan.command)},
                   {"interpreter", plan.interpreter},
                   {"variables", std::move(variables)},
                   {"shared_directory", plan.shared_directory},
                   {"spark_options", words_to_json(plan.spark_options)},
                   {"time_limit_seconds", plan.time_limit_seconds},
                   {"tracked", plan.tracked},
                   {"collect_outputs", plan.collect_outputs}};
    if (plan.host) {
        out.set("box",
                JsonObject{{"address", plan.host->address},
                           {"port", plan.host->port},
                           {"user", plan.host->user},
                           {"scratch", plan.host->scratch},
                           {"private_key", plan.host->private_key}});
    }
    if (plan.container) out.set("container", to_json(*plan.container));
    if (!plan.conda_file.empty()) {
        out.set("conda_file", plan.conda_file);
        out.set("prepare", plan.prepare);
        out.set("substitute", plan.substitute);
    }
    if (!plan.tensorboard.empty()) out.set("tensorboard", plan.tensorboard);
    if (!plan.gpu.empty() || plan.gpu.hides_all()) out.set("gpu", executor::to_json(plan.gpu));
    if (plan.only_prepare) out.set("only_prepare", true);
    if (plan.may_promote) out.set("may_promote", true);
    if (!plan.lock_digest.empty()) out.set("lock_digest", plan.lock_digest);
    return out;
}

Result<Plan> plan_from_json(const Json& value)
{
    if (!value.is_object()) return fail(ErrorKind::damaged, "stored plan: not an object");
    Plan plan;
    plan.run_configuration = value.text("run_configuration");
    plan.target = value.text("target");
    plan.target_type = value.text("target_type");
    plan.framework = value.text("framework");
    plan.script = value.text("script");
    plan.arguments = TRY(words_from_json(value["arguments"], "arguments"));
    plan.command = TRY(words_from_json(value["command"], "command"));
    plan.interpreter = value.text("interpreter");
    if (value["variables"].is_object()) {
        for (const auto& [name, item] : value["variables"].as_object()) {
            if (item.is_string()) plan.variables.emplace_back(name, item.as_string());
        }
    }
    plan.shared_directory = value.text("shared_directory");
    plan.spark_options = TRY(words_from_json(value["spark_options"], "spark_options"));
    plan.tensorboard = value.text("tensorboard");
    plan.time_limit_seconds = value.integer("time_limit_seconds");
    plan.tracked = value.boolean("tracked", true);
    plan.collect_outputs = value.boolean("collect_outputs", true);
    plan.conda_file = value.text("conda_file");
    plan.prepare = value.boolean("prepare", value["container"].boolean("prepare", true));
    plan.substitute = value.boolean("substitute");
    plan.gpu = executor::gpu_request_from(value["gpu"]);
    plan.only_prepare = value.boolean("only_prepare");
    plan.may_promote = value.boolean("may_promote");
    plan.lock_digest = value.text("lock_digest");
    if (const auto& host = value["box"]; host.is_object()) {
        plan.host = HostPlan{.address = host.text("address"),
                             .port = static_cast<int>(host.integer("port")),
                             .user = host.text("user"),
                             .scratch = host.text("scratch"),
                             .private_key = host.text("private_key")};
    }
    if (value["container"].is_object())
        plan.container = TRY(container_plan_from_json(value["container"]));
    return plan;
}

std::vector<std::string> secret_names(const Plan& plan)
{
    std::vector<std::string> names;
    for (const auto& [variable, value] : plan.variables) {
        if (auto name = secrets::reference_name(value)) names.push_back(*name);
    }
    if (plan.container) {
        if (auto name = secrets::reference_name(plan.container->registry_password))
            names.push_back(*name);
    }
    return names;
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "executor/job/gpu_request.hpp"
#include "executor/remote/wire/message.hpp"

namespace ponk::executor::remote {

namespace {

Json words(const std::vector<std::string>& list)
{
    return JsonArray(list.begin(), list.end());
}

Result<std::vector<std::string>> parse_words(const Json& head, std::string_view key)
{
    std::vector<std::string> out;
    const auto& list = head[key];
    if (list.is_null()) return out;
    if (!list.is_array()) return fail(ErrorKind::damaged, "a job: '{}' is not a list", key);
    for (const auto& item : list.as_array()) {
        if (!item.is_string())
            return fail(ErrorKind::damaged, "a job: '{}' is not a list of texts", key);
        out.push_back(item.as_string());
    }
    return out;
}

Json to_json(const ContainerRequest& request)
{
    return JsonObject{{"image", request.image},
                      {"pinned", request.pinned},
                      {"copied", request.tree == ContainerRequest::Tree::copied},
                      {"shm_size", request.shm_size},
                      {"arguments", words(request.arguments)},
                      {"registry_username", request.registry_username},
                      {"registry_password", request.registry_password},
                      {"registry_token", request.registry_token}};
}

Result<ContainerRequest> parse_container(const Json& value)
{
    using Tree = ContainerRequest::Tree;
    auto arguments = TRY(parse_words(value, "arguments"));
    return ContainerRequest{.image = value.text("image"),
                            .pinned = value.text("pinned"),
                            .tree = value.boolean("copied") ? Tree::copied : Tree::mounted,
                            .shm_size = value.text("shm_size"),
                            .arguments = std::move(arguments),
                            .registry_username = value.text("registry_username"),
                            .registry_password = value.text("registry_password"),
                            .registry_token = value.text("registry_token")};
}

Json to_json(const EnvironmentRequest& request)
{
    return JsonObject{
        {"file", request.file},
        {"project", request.project},
        {"target", request.target},
        {"network", request.network},
        {"refuse", request.missing == EnvironmentRequest::Missing::refuse},
        {"substitute", request.substitutions == EnvironmentRequest::Substitutions::known},
        {"lock", request.lock}};
}

EnvironmentRequest parse_environment(const Json& value)
{
    using Missing = EnvironmentRequest::Missing;
    using Substitutions = EnvironmentRequest::Substitutions;
    return EnvironmentRequest{.file = value.text("file"),
                              .project = value.text("project"),
                              .target = value.text("target"),
                              .network = value.text("network"),
                              .missing = value.boolean("refuse") ? Missing::refuse : Missing::build,
                              .substitutions = value.boolean("substitute") ? Substitutions::known
                                                                           : Substitutions::none,
                              .lock = value.text("lock")};
}

// Empty: nothing is tracked.
std::string tracking_text(const model::Tracking& tracking)
{
    return tracking.experiment.empty() ? "" : model::to_text(tracking);
}

}  // namespace

Json to_json(const JobSpec& spec)
{
    JsonArray variables;
    for (const auto& [name, value] : spec.variables)
        variables.emplace_back(JsonArray{name, value});
    JsonObject out{{"id", spec.id.text()},
                   {"token", spec.token},
                   {"snapshot", spec.snapshot.text()},
                   {"framework", spec.framework},
                   {"script", spec.script},
                   {"arguments", words(spec.arguments)},
                   {"interpreter", spec.interpreter},
                   {"variables", std::move(variables)},
                   {"shared_directory", spec.shared_directory},
                   {"container", to_json(spec.container)},
                   {"environment", to_json(spec.environment)},
                   {"gpu", executor::to_json(spec.gpu)},
                   {"spark_options", words(spec.spark_options)},
                   {"command", words(spec.command)},
                   {"time_limit", static_cast<std::int64_t>(spec.time_limit.count())},
                   {"grace", static_cast<std::int64_t>(spec.grace.count())},
                   {"umask", static_cast<std::int64_t>(spec.umask)}};
    if (!spec.tensorboard.empty()) out.set("tensorboard", spec.tensorboard);
    if (const auto text = tracking_text(spec.tracking); !text.empty()) out.set("tracking", text);
    return out;
}

Result<JobSpec> parse_job_spec(const Json& head)
{
    JobSpec spec;
    spec.id = TRY(RunId::parse(head.text("id")));
    spec.token = head.text("token");
    if (!parse_digest(head.text("snapshot"), spec.snapshot))
        return fail(ErrorKind::damaged, "a job: 'snapshot' is not a digest");
    spec.framework = head.text("framework");
    spec.script = head.text("script");
    spec.arguments = TRY(parse_words(head, "arguments"));
    spec.interpreter = head.text("interpreter");
    if (const auto& list = head["variables"]; list.is_array()) {
        for (const auto& pair : list.as_array()) {
            if (!pair.is_array() || pair.as_array().size() != 2 ||
                !pair.as_array()[0].is_string() || !pair.as_array()[1].is_string())
                return fail(ErrorKind::damaged, "a job: 'variables' are not pairs of texts");
            spec.variables.emplace_back(pair.as_array()[0].as_string(),
                                        pair.as_array()[1].as_string());
        }
    }
    spec.shared_directory = head.text("shared_directory");
    spec.container = TRY(parse_container(head["container"]));
    spec.environment = parse_environment(head["environment"]);
    spec.gpu = gpu_request_from(head["gpu"]);
    if (const auto text = head.text("tracking"); !text.empty())
        spec.tracking = TRY(model::parse_tracking(text));
    spec.spark_options = TRY(parse_words(head, "spark_options"));
    spec.command = TRY(parse_words(head, "command"));
    spec.tensorboard = head.text("tensorboard");
    spec.time_limit = std::chrono::seconds(head.integer("time_limit"));
    spec.grace = std::chrono::seconds(head.integer("grace", 10));
    spec.umask = static_cast<mode_t>(head.integer("umask", 022)) & 0777U;
    return spec;
}

}  // namespace ponk::executor::remote

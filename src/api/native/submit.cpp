// SPDX-License-Identifier: Apache-2.0
#include "api/native/handlers.hpp"
#include "api/native/run_json.hpp"
#include "api/native/submission.hpp"
#include "base/text.hpp"

namespace ponk::api {

namespace {

Result<std::vector<std::string>> words(const Json& body, std::string_view name)
{
    std::vector<std::string> out;
    const auto& value = body[name];
    if (value.is_null()) return out;
    if (!value.is_array())
        return fail(ErrorKind::invalid_argument, "'{}' must be a list of texts", name);
    for (const auto& item : value.as_array()) {
        if (!item.is_string() || item.as_string().find('\0') != std::string::npos)
            return fail(ErrorKind::invalid_argument, "'{}' must be a list of texts", name);
        out.push_back(item.as_string());
    }
    return out;
}

Result<engine::Variables> pairs(const Json& body, std::string_view name)
{
    engine::Variables out;
    const auto& value = body[name];
    if (value.is_null()) return out;
    if (!value.is_object())
        return fail(ErrorKind::invalid_argument, "'{}' must be an object", name);
    for (const auto& [key, item] : value.as_object()) {
        if (!item.is_string() || key.empty() ||
            key.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
            return fail(ErrorKind::invalid_argument, "'{}' must map names to texts", name);
        out.emplace_back(key, item.as_string());
    }
    return out;
}

}  // namespace

Result<engine::LaunchContext> launch_context_of(const Json& body)
{
    engine::LaunchContext launch_context;
    launch_context.environment = TRY(words(body, "environment"));
    launch_context.umask = umask_of(body);
    return launch_context;
}

Result<engine::Submission> submission_of(const Json& body)
{
    engine::Submission submission;
    submission.id = TRY(RunId::parse(body.text("run_id")));
    submission.project = body.text("project");
    if (!submission.project.is_absolute())
        return fail(ErrorKind::invalid_argument, "'project' must be an absolute path");
    if (body["script"].is_string()) submission.script = body.text("script");
    submission.arguments = TRY(words(body, "arguments"));
    submission.run_configuration = body.text("run_configuration", "local");
    submission.target = body.text("target");
    submission.conda_dependencies = body.text("conda_dependencies");
    submission.spark_dependencies = body.text("spark_dependencies");
    submission.name = body.text("name");
    submission.tags = TRY(pairs(body, "tags"));
    submission.variables = TRY(pairs(body, "variables"));
    if (body["tracked"].is_bool()) submission.tracked = body.boolean("tracked");
    if (body["time_limit_seconds"].is_integer())
        submission.time_limit_seconds = body.integer("time_limit_seconds");
    submission.substitute = body.boolean("substitute");
    for (const auto& right : TRY(words(body, "allow"))) {
        if (right != "promote")
            return fail(ErrorKind::invalid_argument,
                        "'{}' is not a permission of a run; the only one is 'promote'",
                        printable(right));
        submission.may_promote = true;
    }
    submission.tensorboard = body.text("tensorboard");
    if (body["gpus"].is_string()) submission.gpus = body.text("gpus");
    if (body.boolean("no_wait")) submission.gpus_busy = executor::GpuRequest::Busy::refuse;
    submission.launch_context = TRY(launch_context_of(body));
    return submission;
}

Result<net::Response> submit_run(const Services& services, const Call& call)
{
    const auto run = TRY(services.engine.submit(TRY(submission_of(TRY(body_of(call))))));
    return net::json_response(TRY(run_json(services, run)), 201);
}

Result<net::Response> rerun_run(const Services& services, const Call& call)
{
    const auto body = TRY(body_of(call));
    const auto original = TRY(run_of(services, call));
    const auto id = TRY(RunId::parse(body.text("run_id")));
    const auto run = TRY(services.engine.rerun(original, id, TRY(launch_context_of(body))));
    return net::json_response(TRY(run_json(services, run)), 201);
}

}  // namespace ponk::api

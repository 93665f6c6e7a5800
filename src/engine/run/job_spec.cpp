// SPDX-License-Identifier: Apache-2.0
#include "engine/run/job_spec.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "engine/run/run_environment.hpp"
#include "os/variables.hpp"

namespace ponk::engine {

namespace {

Result<executor::ContainerRequest> container_request(const Context& context,
                                                     const ContainerPlan& plan)
{
    using Tree = executor::ContainerRequest::Tree;
    executor::ContainerRequest request{.image = plan.image,
                                       .pinned = plan.pinned,
                                       .tree = plan.tree_mounted ? Tree::mounted : Tree::copied,
                                       .shm_size = plan.shm_size,
                                       .arguments = plan.arguments,
                                       .registry_username = plan.registry_username,
                                       .registry_password = plan.registry_password};
    if (const auto secret = secrets::reference_name(plan.registry_password))
        request.registry_password =
            TRY(context.secrets.get(*secret).map_error(while_doing("password of the registry")));
    return request;
}

Result<executor::EnvironmentRequest>
environment_request(const Context& context, const model::Run& run, const Plan& plan)
{
    using Request = executor::EnvironmentRequest;
    Request request{.file = plan.conda_file,
                    .project = run.project,
                    .target = plan.target,
                    .network = plan.container ? plan.container->build_network : "",
                    .missing = plan.prepare ? Request::Missing::build : Request::Missing::refuse,
                    .substitutions = plan.substitute ? Request::Substitutions::known
                                                     : Request::Substitutions::none,
                    .lock = {}};
    if (!plan.lock_digest.empty())
        request.lock = TRY(read_wanted_lock(context.run_directory(run.id), plan.lock_digest));
    return request;
}

executor::HostAddress host_address(const Plan& plan, const LaunchContext* launch_context)
{
    if (!plan.host) return {};
    return {.address = plan.host->address,
            .port = plan.host->port,
            .user = plan.host->user,
            .scratch = plan.host->scratch,
            .key = plan.host->private_key,
            .agent =
                launch_context ? os::variable(launch_context->environment, "SSH_AUTH_SOCK") : ""};
}

}  // namespace

Result<executor::JobSpec> make_job_spec(const Context& context,
                                        const model::Run& run,
                                        const Plan& plan,
                                        const LaunchContext* launch_context)
{
    executor::JobSpec spec;
    spec.id = run.id;
    spec.token = to_hex(random_bytes(16));
    spec.directory = context.run_directory(run.id);
    if (!parse_digest(run.snapshot, spec.snapshot))
        return fail(ErrorKind::damaged, "run '{}' has no snapshot", run.id.text());
    spec.source = run.project_path;
    spec.framework = plan.framework;
    spec.script = plan.script;
    spec.arguments = plan.arguments;
    spec.command = plan.command;
    spec.interpreter = plan.interpreter;
    spec.spark_options = plan.spark_options;
    spec.tensorboard = plan.tensorboard;
    spec.shared_directory = plan.shared_directory;
    spec.host = host_address(plan, launch_context);
    spec.time_limit = std::chrono::seconds(plan.time_limit_seconds);
    for (const auto& [name, value] : plan.variables) {
        const auto secret = secrets::reference_name(value);
        spec.variables.emplace_back(
            name,
            secret ? TRY(context.secrets.get(*secret).map_error(while_doing("variable '{}'", name)))
                   : value);
    }
    if (plan.container) spec.container = TRY(container_request(context, *plan.container));
    spec.environment = TRY(environment_request(context, run, plan));
    spec.gpu = plan.gpu;
    // What `ponk.run` tells the script. A run that a script submits must not take over its
    // parent's.
    spec.variables.emplace_back("PONK_RUN_NAME", run.name);
    spec.variables.emplace_back("PONK_PROJECT_ID", run.project);
    if (launch_context != nullptr) {
        spec.submitter_environment = launch_context->environment;
        spec.umask = launch_context->umask;
    }
    return spec;
}

}  // namespace ponk::engine

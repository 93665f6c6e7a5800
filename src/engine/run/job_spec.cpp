// SPDX-License-Identifier: Apache-2.0
#include "engine/run/job_spec.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "engine/run/run_environment.hpp"
#include "os/variables.hpp"

namespace ponk::engine {

namespace {

Result<target::ContainerWish> container_wish(const Context& context, const ContainerPlan& plan)
{
    using Tree = target::ContainerWish::Tree;
    target::ContainerWish wish{.image = plan.image,
                               .pinned = plan.pinned,
                               .tree = plan.tree_mounted ? Tree::mounted : Tree::copied,
                               .shm_size = plan.shm_size,
                               .arguments = plan.arguments,
                               .registry_username = plan.registry_username,
                               .registry_password = plan.registry_password};
    if (const auto secret = secrets::reference_name(plan.registry_password))
        wish.registry_password =
            TRY(context.secrets.get(*secret).map_error(while_doing("password of the registry")));
    return wish;
}

Result<target::EnvironmentWish>
environment_wish(const Context& context, const model::Run& run, const Plan& plan)
{
    using Wish = target::EnvironmentWish;
    Wish wish{.file = plan.conda_file,
              .project = run.project,
              .target = plan.target,
              .network = plan.container ? plan.container->build_network : "",
              .missing = plan.prepare ? Wish::Missing::build : Wish::Missing::refuse,
              .substitutions =
                  plan.substitute ? Wish::Substitutions::known : Wish::Substitutions::none,
              .lock = {}};
    if (!plan.lock_digest.empty())
        wish.lock = TRY(read_wanted_lock(context.run_directory(run.id), plan.lock_digest));
    return wish;
}

target::BoxAddress box_address(const Plan& plan, const Ambient* ambient)
{
    if (!plan.box) return {};
    return {.address = plan.box->address,
            .port = plan.box->port,
            .user = plan.box->user,
            .scratch = plan.box->scratch,
            .key = plan.box->private_key,
            .agent = ambient ? os::variable(ambient->environment, "SSH_AUTH_SOCK") : ""};
}

}  // namespace

Result<target::JobSpec> make_job_spec(const Context& context,
                                      const model::Run& run,
                                      const Plan& plan,
                                      const Ambient* ambient)
{
    target::JobSpec spec;
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
    spec.box = box_address(plan, ambient);
    spec.time_limit = std::chrono::seconds(plan.time_limit_seconds);
    for (const auto& [name, value] : plan.variables) {
        const auto secret = secrets::reference_name(value);
        spec.variables.emplace_back(
            name,
            secret ? TRY(context.secrets.get(*secret).map_error(while_doing("variable '{}'", name)))
                   : value);
    }
    if (plan.container) spec.container = TRY(container_wish(context, *plan.container));
    spec.environment = TRY(environment_wish(context, run, plan));
    spec.gpu = plan.gpu;
    // What `ponk.run` tells the script. A run that a script submits must not take over its
    // parent's.
    spec.variables.emplace_back("PONK_RUN_NAME", run.name);
    spec.variables.emplace_back("PONK_PROJECT_ID", run.project);
    if (ambient != nullptr) {
        spec.ambient = ambient->environment;
        spec.umask = ambient->umask;
    }
    return spec;
}

}  // namespace ponk::engine

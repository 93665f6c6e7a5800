// SPDX-License-Identifier: Apache-2.0
#include "daemon/executors.hpp"

#include "daemon/agent_programs.hpp"
#include "executor/docker/docker_executor.hpp"
#include "executor/local/local_executor.hpp"
#include "executor/remote/link/ssh_stream.hpp"
#include "executor/remote/remote_executor.hpp"
#include "executor/run_directory/object_trees.hpp"
#include "executor/slurm/slurm_executor.hpp"
#include "model/target_type.hpp"
#include "os/variables.hpp"

namespace ponk::daemon {

namespace {

// The types of targets that are other machines share their connections.
Result<>
add_remote_executors(Executors& executors, const Options& options, const Collaborators& with)
{
    const AgentPrograms programs(options.host_program, folder_beside_program());
    const auto hosts =
        std::make_shared<executor::remote::HostPool>(executor::remote::connect_by_ssh(
            {.home = options.home,
             .environment = os::own_variables(),
             .processors = programs.processors(),
             .program = [programs](const std::string& name) { return programs.find(name); }}));
    const auto tell = [with](const std::string& run, const std::string& line) {
        const auto id = RunId::parse(run);
        if (!id) return;
        static_cast<void>(with.history.append_event(*id, "progress", line));
        with.notifier.ring(*id);
    };
    for (const char* type : {"remote", "remotedocker", "slurm"}) {
        executors.emplace(
            type,
            TRY(executor::remote::make_executor({options.home, type, with.objects, hosts, tell})));
    }
    return {};
}

// A type that users can submit to without an executor is a mistake of ours, found at every start.
Result<> require_executors(const Executors& executors)
{
    for (const auto& traits : model::target_types) {
        if (model::is_served(traits.type) && !executors.contains(std::string(traits.name())))
            return fail(ErrorKind::internal,
                        "targets of type '{}' have no executor: add it in executors.cpp",
                        traits.name());
    }
    return {};
}

}  // namespace

Result<Executors> make_executors(const Options& options, const Collaborators& with)
{
    Executors executors;
    const auto trees = executor::trees_of(with.objects);
    executors.emplace("local", TRY(executor::local::make_executor({options.home, trees})));
    executors.emplace(model::slurm_here,
                      TRY(executor::slurm::make_executor({options.home, *executors.at("local")})));
    executors.emplace("localdocker", TRY(executor::docker::make_executor({options.home, trees})));
    TRY(add_remote_executors(executors, options, with));
    TRY(require_executors(executors));
    return executors;
}

}  // namespace ponk::daemon

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/find_python.hpp"

#include "engine/plan/require_consents.hpp"
#include "executor/environments/environment.hpp"
#include "executor/environments/managed_environment.hpp"
#include "executor/supervisor/command_line.hpp"

namespace ponk::engine {

Result<FoundPython>
find_python(const Context& context, const RunRequest& request, const Submitter& submitter)
{
    const auto key = TRY(identify_project(context.history, request.project));
    auto resolved = TRY(resolve_run(request, submitter, key));
    TRY(require_consents(context, resolved, request));
    FoundPython found{.spec = std::move(resolved.spec), .interpreter = {}, .built = {}};
    const auto& spec = found.spec;
    if (spec.location.kind != model::Location::Kind::here || spec.location.slurm ||
        spec.runtime.container)
        return found;
    if (auto wanted = TRY(executor::environment_request(spec, resolved.project))) {
        wanted->interpreter = spec.program.interpreter;
        found.built = TRY(environment::find_built(
            environment::settings_from(context.home, submitter.environment), *wanted));
        if (found.built) found.interpreter = found.built->record.interpreter;
        return found;
    }
    executor::Environment ground(
        executor::ground_of_own(spec.environment.prefix, submitter.environment));
    for (const auto& [name, value] : spec.program.variables)
        ground.set(name, value);
    executor::Job job;
    job.spec = spec;
    found.interpreter =
        TRY(executor::find_interpreter(job, resolved.project, ground.words())).native();
    return found;
}

}  // namespace ponk::engine

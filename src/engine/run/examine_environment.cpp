// SPDX-License-Identifier: Apache-2.0
#include "engine/run/examine_environment.hpp"

#include "engine/plan/require_consents.hpp"
#include "engine/run/job_spec.hpp"
#include "engine/run/preparation_part.hpp"
#include "engine/run/store_project.hpp"
#include "executor/remote/link/host_advice.hpp"

namespace ponk::engine {

namespace {

Result<executor::Examination> examine(const Context& context,
                                      const model::Run& run,
                                      const EnvironmentOutlook& outlook,
                                      const LaunchContext& launch_context,
                                      const std::stop_token& stop)
{
    auto* executor = TRY(context.executor(outlook.plan.plan.target_type));
    const auto spec = TRY(make_job_spec(context, run, outlook.plan.plan, &launch_context));
    TRY(os::make_directories(spec.directory));
    auto found = executor->examine(spec, stop);
    static_cast<void>(executor->clean(run.id.text(), spec.directory));
    return found.map_error([&](const Error& error) {
        return executor::remote::advise_for_host(error, spec.host, outlook.plan.plan.target);
    });
}

}  // namespace

Result<EnvironmentOutlook>
examine_environment(const Context& context, const Submission& submission, std::stop_token stop)
{
    EnvironmentOutlook outlook{TRY(make_plan(submission)), {}};
    const auto& plan = outlook.plan.plan;
    TRY(require_consents(context, outlook.plan, submission));
    model::Run run;
    run.id = submission.id;
    run.project = outlook.plan.project_id;
    run.project_path = outlook.plan.project.native();
    const auto stored = TRY(store_project(
        context,
        outlook.plan.project,
        part_for_preparation(outlook.plan.project, plan),
        [](const std::string&) {},
        stop));
    run.snapshot = stored.id.text();
    auto found = examine(context, run, outlook, submission.launch_context, stop);
    TRY(os::remove_tree(context.run_directory(run.id)));
    outlook.found = TRY(std::move(found));
    return outlook;
}

}  // namespace ponk::engine

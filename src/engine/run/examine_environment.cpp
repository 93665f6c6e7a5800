// SPDX-License-Identifier: Apache-2.0
#include "engine/run/examine_environment.hpp"

#include "engine/plan/require_consents.hpp"
#include "engine/run/make_job.hpp"
#include "engine/run/preparation_part.hpp"
#include "engine/run/store_project.hpp"
#include "executor/remote/link/host_advice.hpp"

namespace ponk::engine {

namespace {

Result<executor::Examination> examine(const Context& context,
                                      const model::Run& run,
                                      const EnvironmentOutlook& outlook,
                                      const Submitter& submitter,
                                      const std::stop_token& stop)
{
    auto* executor = TRY(context.executor(outlook.run.spec));
    auto* const environments = executor->environments();
    if (environments == nullptr)
        return fail(ErrorKind::unavailable,
                    "environments of type '{}' cannot be checked",
                    target_type(outlook.run.spec));
    const auto job = TRY(make_job(context, run, outlook.run.spec, &submitter));
    const auto& directory = job.context.directory;
    TRY(os::make_directories(directory.root()));
    auto found = environments->examine(job, stop);
    static_cast<void>(executor->clean(run.id.text(), directory));
    return found.map_error([&](const Error& error) {
        return executor::remote::advise_for_host(error, host_of(job), job.spec.location.target);
    });
}

}  // namespace

Result<EnvironmentOutlook> examine_environment(const Context& context,
                                               const RunRequest& request,
                                               const Submitter& submitter,
                                               std::stop_token stop)
{
    const auto key = TRY(identify_project(context.history, request.project));
    EnvironmentOutlook outlook{TRY(resolve_run(request, submitter, key)), {}};
    TRY(require_consents(context, outlook.run, request));
    model::Run run;
    run.id = request.id;
    run.project = outlook.run.spec.project;
    run.project_path = outlook.run.project.native();
    const auto stored = TRY(store_project(
        context,
        outlook.run.project,
        part_for_preparation(outlook.run.project, outlook.run.spec),
        [](const std::string&, const std::string&) {},
        stop));
    run.snapshot = stored.id.text();
    auto found = examine(context, run, outlook, submitter, stop);
    TRY(os::remove_tree(context.run_directory(run.id).root()));
    outlook.found = TRY(std::move(found));
    return outlook;
}

}  // namespace ponk::engine

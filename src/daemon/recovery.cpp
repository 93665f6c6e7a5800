// SPDX-License-Identifier: Apache-2.0
#include "daemon/recovery.hpp"

#include "engine/plan.hpp"
#include "os/directory.hpp"
#include "os/identity.hpp"

namespace ponk::daemon {

Result<> import_run_directories(const engine::Context& context)
{
    const auto entries = os::list_directory(context.home / "runs");
    if (!entries) return {};
    std::vector<model::Run> runs;
    for (const auto& entry : *entries) {
        const auto id = RunId::parse(entry.name);
        if (!id) continue;
        const auto note = os::read_file(context.run_directory(*id) / "record.json");
        if (!note) continue;
        const auto record = parse_json(*note);
        if (!record) continue;
        const auto plan = engine::plan_from_json((*record)["configuration"]);
        if (!plan) continue;
        model::Run run;
        run.id = *id;
        run.project = record->text("project");
        run.project_path = record->text("project_path");
        run.name = record->text("name");
        run.user = record->text("user");
        run.host = record->text("host");
        run.created = record->integer("created");
        run.snapshot = record->text("snapshot");
        run.git = (*record)["git"];
        run.script_name = plan->script;
        run.arguments = plan->arguments;
        run.target = plan->target;
        run.target_type = plan->target_type;
        run.run_configuration = plan->run_configuration;
        run.framework = plan->framework;
        run.configuration = (*record)["configuration"];
        run.state = model::RunState::starting;  // the run directory tells what became of it
        runs.push_back(std::move(run));
    }
    TRY(context.history.import_runs(std::move(runs)));
    return {};
}

}  // namespace ponk::daemon

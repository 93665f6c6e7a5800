// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "base/time.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/plan/require_consents.hpp"
#include "engine/run/run_environment.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "model/run_words.hpp"
#include "os/identity.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ponk::engine {

using model::RunState;

Engine::Engine(Context context) : context_(std::move(context)) {}

Engine::~Engine()
{
    // Supervisors ring the notifier and use the context while they end: take them out first.
    std::map<RunId, std::shared_ptr<Supervisor>> leaving;
    std::swap(leaving, *live_.lock());
}

void Engine::supervise(const model::Run& run, std::optional<LaunchContext> launch_context)
{
    std::vector<std::shared_ptr<Supervisor>> over;  // joined without the lock
    auto live = live_.lock();
    for (auto& [id, supervisor] : *live) {
        if (supervisor->ended()) over.push_back(std::move(supervisor));
    }
    std::erase_if(*live, [](const auto& entry) { return !entry.second; });
    if (!live->contains(run.id)) {
        live->emplace(run.id,
                      std::make_shared<Supervisor>(context_, run, std::move(launch_context)));
    } else if (launch_context) {
        live->at(run.id)->offer(std::move(*launch_context));
    }
}

std::size_t Engine::active_runs()
{
    std::size_t count = 0;
    auto live = live_.lock();
    for (const auto& [id, supervisor] : *live) {
        if (!supervisor->ended()) ++count;
    }
    return count;
}

std::optional<executor::Outage> Engine::outage(const RunId& id)
{
    const auto supervisor = find(id);
    return supervisor ? supervisor->outage() : std::nullopt;
}

std::shared_ptr<Supervisor> Engine::find(const RunId& id)
{
    const auto live = live_.lock();
    const auto found = live->find(id);
    return found == live->end() ? nullptr : found->second;
}

std::vector<RunId> Engine::unfinished_runs()
{
    std::vector<RunId> ids;
    const auto live = live_.lock();
    for (const auto& [id, supervisor] : *live) {
        if (!supervisor->ended()) ids.push_back(id);
    }
    return ids;
}

Result<model::Run> Engine::start(model::Run run, const Plan& plan, LaunchContext launch_context)
{
    apply_plan(plan, run);
    TRY(RunSecrets::load(context_, plan)).hide(run.name, run.tags);
    run.hidden = !plan.tracked;
    run.configuration = to_json(plan);
    run.user = os::user_name();
    run.host = os::host_name();
    run.created = wall_milliseconds();
    run.state = RunState::preparing;  // at once: nothing stands between
    const auto created = TRY(context_.history.create_run(run));
    if (!model::is_terminal(created.run.state)) supervise(created.run, std::move(launch_context));
    return created.run;
}

namespace {

Result<> refuse_clients_run(const model::Run& run)
{
    if (run.target_type != model::client_target) return {};
    return tl::unexpected(Error(
        ErrorKind::conflict,
        fmt::format("run '{}' belongs to a client of the tracking API: only the client can end it",
                    run.id.text()),
        "End the program that logs to it."));
}

}  // namespace

Result<model::Run> Engine::submit(const Submission& submission)
{
    if (const auto known = TRY(context_.history.find_run(submission.id))) {
        TRY(refuse_clients_run(*known));
        if (!model::is_terminal(known->state)) supervise(*known, submission.launch_context);
        return *known;
    }
    context_.reserve().fill();
    const auto report = TRY(make_plan(submission));
    TRY(context_.executor(report.plan.target_type));
    TRY(require_consents(context_, report, submission));
    for (const auto& name : secret_names(report.plan))
        TRY(context_.secrets.get(name));
    TRY(allow_given_secrets(context_, report, submission));
    model::Run run;
    run.id = submission.id;
    run.name = submission.name;
    run.project = report.project_id;
    run.project_path = report.project.native();
    run.tags = submission.tags;
    TRY(context_.history.put_project(
        {report.project_id, report.project_name, report.project.native()}));
    auto started = TRY(start(std::move(run), report.plan, submission.launch_context));
    for (const auto& notice : report.notices)
        context_.tell(started.id, "notice", notice);
    return started;
}

Result<model::Run>
Engine::rerun(const RunId& original, const RunId& id, LaunchContext launch_context)
{
    if (const auto known = TRY(context_.history.find_run(id))) {
        TRY(refuse_clients_run(*known));
        if (!model::is_terminal(known->state)) supervise(*known, std::move(launch_context));
        return *known;
    }
    const auto before = TRY(context_.history.get_run(original));
    TRY(refuse_clients_run(before));
    TRY(snapshot_of(before).map_error(while_doing("repeat it")));
    auto plan = TRY(plan_from_json(before.configuration));
    TRY(context_.executor(plan.target_type));
    plan.may_promote = false;  // what is in production is not moved by repeating an old run
    TRY(require_consents(context_, plan, before.project_path));
    TRY(pin_environment(
        context_.run_directory(original), before, context_.run_directory(id), plan));
    model::Run run;
    run.id = id;
    run.name = before.name;
    run.project = before.project;
    run.project_path = before.project_path;
    run.snapshot = before.snapshot;
    run.git = before.git;
    run.tags = before.tags;
    run.rerun_of = before.id.text();
    return start(std::move(run), plan, std::move(launch_context));
}

Result<model::Run> Engine::cancel(const RunId& id, std::chrono::seconds grace)
{
    const auto run = TRY(context_.history.get_run(id));
    TRY(refuse_clients_run(run));
    if (model::is_terminal(run.state)) {
        return fail(ErrorKind::conflict,
                    "run '{}' has ended already ({})",
                    id.text(),
                    model::to_string(run.state));
    }
    store::RunChange change;
    change.cancel_requested = true;
    auto marked = TRY(context_.history.update_run(id, change));
    auto live = live_.lock();
    if (const auto found = live->find(id); found != live->end()) found->second->cancel(grace);
    return marked;
}

Result<> Engine::recover()
{
    for (const auto& run : TRY(context_.history.active_runs()))
        supervise(run, std::nullopt);
    return {};
}

void Engine::wait_for_supervisors(Deadline deadline)
{
    const auto waiting = [this] {
        const auto ids = unfinished_runs();
        return std::any_of(ids.begin(), ids.end(), [this](const RunId& id) {
            std::error_code ignored;
            return std::filesystem::exists(context_.run_directory(id) / executor::control::exit,
                                           ignored);
        });
    };
    while (waiting() && Deadline::clock::now() < deadline)
        os::sleep_for(std::chrono::milliseconds(2), {});
}

void Engine::give_up_lost_runs(const Error& why)
{
    for (const auto& id : unfinished_runs()) {
        std::error_code ignored;
        if (std::filesystem::exists(context_.run_directory(id), ignored)) continue;
        if (const auto supervisor = find(id)) supervisor->give_up(why);
    }
}

}  // namespace ponk::engine

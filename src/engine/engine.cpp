// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include "base/time.hpp"
#include "engine/files/artifacts.hpp"
#include "engine/plan/require_consents.hpp"
#include "engine/run/run_environment.hpp"
#include "engine/run/run_note.hpp"
#include "engine/secrets/run_secrets.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "model/run_words.hpp"
#include "os/identity.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ponk::engine {

using model::RunState;

Engine::Engine(Context context, QueueRules rules)
    : context_(std::move(context)),
      runs_(Runs{.live = {}, .queue = RunQueue(rules), .contexts = {}})
{
}

Engine::~Engine()
{
    stopping_ = true;
    // Supervisors ring the notifier and use the context while they end: take them out first.
    std::map<RunId, std::shared_ptr<Supervisor>> leaving;
    std::swap(leaving, runs_.lock()->live);
}

void Engine::supervise(Runs& runs,
                       const model::Run& run,
                       std::shared_ptr<const Submitter> submitter,
                       Supervisor::Until until)
{
    auto& supervisor = runs.live[run.id];
    if (supervisor == nullptr) {
        supervisor = std::make_shared<Supervisor>(
            context_, run, std::move(submitter), until, [this] { dispatcher_.call(); });
    } else if (submitter) {
        supervisor->offer(std::move(submitter));
    }
}

void Engine::take_up(const model::Run& run, Submitter submitter)
{
    std::vector<std::shared_ptr<Supervisor>> over;
    auto runs = runs_.lock();
    over = take_ended(*runs);
    const auto context = runs->contexts.keep(std::move(submitter));
    if (runs->queue.offer(run.id, context)) return;
    const auto spec = model::parse_run_spec(run.configuration);
    runs->queue.begin(spec ? location_key(spec->location) : std::string(), run.id);
    supervise(*runs, run, context);
}

std::vector<std::shared_ptr<Supervisor>> Engine::take_ended(Runs& runs)
{
    std::vector<std::shared_ptr<Supervisor>> over;
    for (auto it = runs.live.begin(); it != runs.live.end();) {
        if (!it->second->ended()) {
            ++it;
            continue;
        }
        if (it->second->stored_snapshot()) {
            // Canceled while its snapshot became ready.
            if (!runs.queue.is_waiting(it->first)) runs.withdrawn.push_back(it->first);
            runs.queue.stored(it->first);
        } else {
            runs.queue.remove(it->first);  // its snapshot failed
            runs.queue.end(it->first);
        }
        over.push_back(std::move(it->second));
        it = runs.live.erase(it);
    }
    return over;
}

void Engine::dispatch()
{
    if (stopping_) return;
    const auto over = take_ended(*runs_.lock());
    for (const auto& id : std::exchange(runs_.lock()->withdrawn, {})) {
        const auto run = context_.history.get_run(id);
        if (run && !model::is_terminal(run->state)) static_cast<void>(cancel_waiting(*run));
    }
    while (begin_next() || store_next_snapshot()) {
    }
}

bool Engine::begin_next()
{
    auto runs = runs_.lock();
    if (stopping_) return false;  // whoever ends us has taken all supervisors out
    const auto next = runs->queue.admit();
    if (!next) return false;
    const auto run = context_.history.get_run(next->id);
    if (run && !model::is_terminal(run->state)) {
        supervise(*runs, *run, next->submitter);
    } else {
        runs->queue.end(next->id);
    }
    return true;
}

bool Engine::store_next_snapshot()
{
    auto runs = runs_.lock();
    if (stopping_) return false;  // whoever ends us has taken all supervisors out
    const auto next = runs->queue.next_snapshot();
    if (!next) return false;
    const auto run = context_.history.get_run(next->id);
    if (run && run->state == RunState::not_started) {
        supervise(*runs, *run, next->submitter, Supervisor::Until::snapshot);
    } else {
        runs->queue.remove(next->id);
        runs->queue.end(next->id);
    }
    return true;
}

std::size_t Engine::active_runs()
{
    const auto runs = runs_.lock();
    const auto under_way = std::ranges::count_if(runs->live, [&](const auto& entry) {
        return !entry.second->ended() && !runs->queue.is_waiting(entry.first);
    });
    return static_cast<std::size_t>(under_way) + runs->queue.waiting();
}

std::size_t Engine::waiting_runs()
{
    return runs_.lock()->queue.waiting();
}

std::optional<Outage> Engine::outage(const RunId& id)
{
    const auto supervisor = find(id);
    return supervisor ? supervisor->outage() : std::nullopt;
}

std::shared_ptr<Supervisor> Engine::find(const RunId& id)
{
    const auto runs = runs_.lock();
    const auto found = runs->live.find(id);
    return found == runs->live.end() ? nullptr : found->second;
}

std::vector<RunId> Engine::unfinished_runs()
{
    std::vector<RunId> ids;
    const auto runs = runs_.lock();
    for (const auto& [id, supervisor] : runs->live) {
        if (!supervisor->ended()) ids.push_back(id);
    }
    return ids;
}

Result<model::Run> Engine::start(model::Run run, RunSpec spec, Submitter submitter)
{
    TRY(RunSecrets::load(context_, spec)).hide(run.name, run.tags);
    apply_spec(spec, run);
    run.hidden = !spec.policy.tracked;
    // What its record has is not stored twice.
    spec.id = {};
    spec.name = spec.project = "";
    run.configuration = to_json(spec);
    run.user = os::user_name();
    run.host = os::host_name();
    run.created = wall_milliseconds();
    const auto location = location_key(spec.location);
    std::vector<std::shared_ptr<Supervisor>> over;
    {
        auto runs = runs_.lock();
        over = take_ended(*runs);
        // At once, unless others wait or its location is full.
        run.state =
            runs->queue.try_begin(location, run.id) ? RunState::preparing : RunState::not_started;
    }
    const auto created = context_.history.create_run(run);
    if (!created || !created->is_new) {
        if (created && !model::is_terminal(created->run.state)) {
            take_up(created->run, std::move(submitter));
        } else {
            runs_.lock()->queue.end(run.id);
        }
        return created.map([](const auto& stored) { return stored.run; });
    }
    context_.notifier.ring(run.id, News::row);
    std::size_t before = 0;
    {
        auto runs = runs_.lock();
        auto context = runs->contexts.keep(std::move(submitter));
        if (run.state == RunState::preparing) {
            supervise(*runs, created->run, std::move(context));
            return created->run;
        }
        before = runs->queue.add(
            location,
            {.id = run.id, .submitter = std::move(context), .has_snapshot = !run.snapshot.empty()});
    }
    context_.tell(run.id,
                  "notice",
                  fmt::format("waits for its turn: {} {} before it",
                              before,
                              before == 1 ? "run is" : "runs are"));
    dispatcher_.call();
    return created->run;
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

Result<> require_submitted(const model::Run& run)
{
    if (run.target_type != model::client_target) return {};
    return tl::unexpected(Error(
        ErrorKind::conflict,
        fmt::format("run '{}' was not started by ponk: a client of the tracking API logged it, "
                    "and how to start that program is not recorded",
                    run.id.text()),
        "Start the program again, or submit its script: 'ponk submit SCRIPT'."));
}

}  // namespace

Result<model::Run> Engine::submit(const RunRequest& request, const Submitter& submitter)
{
    if (const auto known = TRY(context_.history.find_run(request.id))) {
        TRY(refuse_clients_run(*known));
        if (!model::is_terminal(known->state)) take_up(*known, submitter);
        return *known;
    }
    context_.reserve().fill();
    const auto key = TRY(identify_project(context_.history, request.project));
    const auto report = TRY(resolve_run(request, submitter, key));
    TRY(context_.executor(report.spec));
    TRY(require_consents(context_, report, request));
    for (const auto& name : secret_names(report.spec))
        TRY(context_.secrets.get(name));
    TRY(allow_given_secrets(context_, report, request));
    model::Run run;
    run.id = request.id;
    run.name = request.name;
    run.project = report.spec.project;
    run.project_path = report.project.native();
    run.tags = request.tags;
    for (const auto& [name, value] : report.parameters)
        run.tags.emplace_back(std::string(model::parameter_prefix) + name, value);
    TRY(context_.history.put_project(
        {key.id, key.name, key.path.native(), key.place, key.repository}));
    auto started = TRY(start(std::move(run), report.spec, submitter));
    if (!key.moved_from.empty())
        context_.tell(started.id,
                      "notice",
                      fmt::format("the project was at {}; its history continues here",
                                  os::in_quotes(key.moved_from)));
    for (const auto& notice : report.notices)
        context_.tell(started.id, "notice", notice);
    return started;
}

Result<model::Run> Engine::rerun(const RunId& original, const RunId& id, Submitter submitter)
{
    if (const auto known = TRY(context_.history.find_run(id))) {
        TRY(refuse_clients_run(*known));
        if (!model::is_terminal(known->state)) take_up(*known, std::move(submitter));
        return *known;
    }
    const auto before = TRY(context_.history.get_run(original));
    TRY(require_submitted(before));
    TRY(snapshot_of(before).map_error(while_doing("repeat it")));
    TRY(require_made_here(before));
    auto spec = TRY(model::parse_run_spec(before.configuration));
    TRY(context_.executor(spec));
    spec.policy.may_promote = false;  // what is in production is not moved by repeating an old run
    TRY(require_consents(context_, spec, before.project_path));
    TRY(pin_environment(
        context_.run_directory(original).root(), before, context_.run_directory(id).root(), spec));
    model::Run run;
    run.id = id;
    run.name = before.name;
    run.project = before.project;
    run.project_path = before.project_path;
    run.snapshot = before.snapshot;
    run.git = before.git;
    run.tags = before.tags;
    run.rerun_of = before.id.text();
    return start(std::move(run), std::move(spec), std::move(submitter));
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
    bool waited = false;
    std::shared_ptr<Supervisor> supervisor;
    {
        auto runs = runs_.lock();
        waited = runs->queue.remove(id);
        if (const auto found = runs->live.find(id); found != runs->live.end())
            supervisor = found->second;
    }
    if (supervisor) {
        supervisor->cancel(grace);
        return marked;
    }
    return waited ? cancel_waiting(marked) : marked;
}

// Nobody watches it who would record its end.
Result<model::Run> Engine::cancel_waiting(const model::Run& run)
{
    store::RunChange change;
    change.ended = wall_milliseconds();
    auto ended = TRY(context_.history.update_state(run.id, run.state, RunState::canceled, change));
    static_cast<void>(write_last_note(context_.run_directory(run.id).root(), ended));
    context_.notifier.ring(run.id, News::row);
    return ended;
}

Result<> Engine::recover()
{
    for (const auto& run : TRY(context_.history.active_runs())) {
        const auto spec = model::parse_run_spec(run.configuration);
        const auto location = spec ? location_key(spec->location) : std::string();
        auto runs = runs_.lock();
        if (run.state == RunState::not_started && !run.cancel_requested) {
            runs->queue.add(
                location,
                {.id = run.id, .submitter = nullptr, .has_snapshot = !run.snapshot.empty()});
        } else {
            runs->queue.begin(location, run.id);
            supervise(*runs, run, nullptr);
        }
    }
    dispatcher_.call();
    return {};
}

void Engine::wait_for_supervisors(Deadline deadline)
{
    const auto waiting = [this] {
        const auto ids = unfinished_runs();
        return std::any_of(ids.begin(), ids.end(), [this](const RunId& id) {
            std::error_code ignored;
            return std::filesystem::exists(
                context_.run_directory(id).task() / executor::control::exit, ignored);
        });
    };
    while (waiting() && Deadline::clock::now() < deadline)
        os::sleep_for(std::chrono::milliseconds(2), {});
}

void Engine::give_up_lost_runs(const Error& why)
{
    for (const auto& id : unfinished_runs()) {
        std::error_code ignored;
        if (std::filesystem::exists(context_.run_directory(id).root(), ignored)) continue;
        if (const auto supervisor = find(id)) supervisor->give_up(why);
    }
}

}  // namespace ponk::engine

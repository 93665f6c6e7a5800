// SPDX-License-Identifier: Apache-2.0
#include "engine/supervisor.hpp"

#include "base/hash.hpp"
#include "base/seal.hpp"
#include "base/text.hpp"
#include "engine/run_note.hpp"

#include <fmt/format.h>

#include <pthread.h>

namespace ponk::engine {

using model::RunState;
using namespace std::chrono_literals;

namespace {

// How long a run that was not launched waits for its client after a restart of the daemon.
constexpr auto client_patience = 15s;

const std::string not_shown =
    "(not shown: a secret of this run cannot be read, so it could be in the text)";

}  // namespace

Supervisor::Supervisor(const Context& context, model::Run run, std::optional<Ambient> ambient)
    : context_(context), run_(std::move(run))
{
    wishes_.lock()->ambient = std::move(ambient);
    if (run_.cancel_requested) wishes_.lock()->cancel = 10s;
    thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
}

Supervisor::~Supervisor() = default;

void Supervisor::offer(Ambient ambient)
{
    auto wishes = wishes_.lock();
    if (!wishes->ambient) wishes->ambient = std::move(ambient);
    bell_.ring();
}

void Supervisor::cancel(std::chrono::seconds grace)
{
    auto wishes = wishes_.lock();
    wishes->cancel = grace;
    bell_.ring();
    step_.request_stop();
}

void Supervisor::give_up(const Error& why)
{
    auto wishes = wishes_.lock();
    wishes->give_up = why.message();
    bell_.ring();
    step_.request_stop();
}

bool Supervisor::cancel_wished()
{
    return wishes_.lock()->cancel.has_value();
}

std::string Supervisor::job() const
{
    // A crash between launch and its record: the executors find a job by its run's id too.
    return run_.job.empty() ? run_.id.text() : run_.job;
}

void Supervisor::work(std::stop_token stop)
{
    ::pthread_setname_np(::pthread_self(), "ponk-run");
    stop_ = stop;
    // One token ends the step in hand: for a cancel (step_) and for the end of the daemon (stop).
    const std::stop_callback chain(stop, [this] { step_.request_stop(); });
    const auto done = carry_out(stop);
    if (!done && !stop.stop_requested()) fail_run(done.error());
    secrets_.reset();  // the supervisor may stay for a while
    wishes_.lock()->ambient.reset();
    ended_ = !stop.stop_requested();
    context_.notifier.ring(run_.id);
}

Result<> Supervisor::carry_out(std::stop_token stop)
{
    const auto plan = TRY(plan_from_json(run_.configuration));
    executor_ = TRY(context_.executor(plan.target_type));
    if (run_.state < RunState::running) {
        const bool launched = run_.state == RunState::starting && TRY(was_launched(stop));
        if (!launched) {
            TRY(wait_for_ambient(stop));
            if (run_.state < RunState::starting) TRY(prepare(plan, stop));
            TRY(launch(plan, stop));
        }
    }
    return follow(plan, stop);
}

Result<bool> Supervisor::was_launched(std::stop_token stop)
{
    const auto asked = executor_->sync(job(), directory(), {}, after(0ms), stop);
    if (!asked && asked.error().kind() == ErrorKind::not_found) return false;
    const auto status = TRY(asked);
    return status.phase == target::JobPhase::running || status.phase == target::JobPhase::ended ||
           status.phase == target::JobPhase::lost;
}

Result<> Supervisor::wait_for_ambient(std::stop_token stop)
{
    const auto deadline = after(client_patience);
    for (;;) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
        if (cancel_wished()) {
            if (run_.state == RunState::starting) TRY(executor_->cancel(job(), directory(), 0s));
            return fail(ErrorKind::cancelled, "cancelled before it had begun");
        }
        if (wishes_.lock()->ambient) return {};
        const int fds[] = {bell_.fd()};
        const auto rung = os::wait_any(fds, deadline, stop);
        bell_.silence();
        if (!rung && rung.error().kind() == ErrorKind::timeout) break;
    }
    // A supervisor process started just before the crash must not begin later.
    if (run_.state == RunState::starting) TRY(executor_->cancel(job(), directory(), 0s));
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              "the daemon was stopped before the run had begun; nothing was executed",
              "Submit it again."));
}

Result<> Supervisor::move_to(RunState state, const store::RunChange& change)
{
    return move_through({state}, change);
}

Result<> Supervisor::move_through(const std::vector<RunState>& path, const store::RunChange& change)
{
    bool released = false;
    for (;;) {
        auto moved = context_.history.update_state(run_.id, run_.state, path, change);
        if (moved) {
            run_ = std::move(*moved);
            // Without it the exit record alone would bring the run back after a lost database.
            if (model::is_terminal(run_.state))
                static_cast<void>(write_last_note(directory(), run_));
            context_.notifier.ring(run_.id);
            return {};
        }
        // A full disk passes; the truth must be written once there is room.
        const bool again =
            moved.error().kind() == ErrorKind::unavailable && !context_.history.failure();
        if (!again) return tl::unexpected(moved.error());
        context_.reserve().release();
        if (!os::sleep_for(released ? 1000ms : 1ms, stop_)) return tl::unexpected(moved.error());
        released = true;
    }
}

// Tells them to whoever follows; returns what to keep with the run. A script can make any number of
// odd files, so the list has an end.
std::vector<std::string> Supervisor::tell_warnings(target::Notices notices)
{
    constexpr std::size_t most = 20;
    if (notices.size() > most) {
        const auto more = notices.size() - most;
        notices.resize(most);
        notices.push_back(fmt::format("and {} more of this kind", more));
    }
    for (const auto& notice : notices)
        context_.tell(run_.id, "notice", notice);
    return notices;
}

void Supervisor::fail_run(const Error& error)
{
    store::RunChange change;
    change.ended = wall_milliseconds();
    const bool cancelled = cancel_wished();
    if (!cancelled) change.error = hidden(error);
    const auto moved = move_to(cancelled ? RunState::canceled : RunState::failed, change);
    if (!moved) tell("notice", "the end could not be recorded: " + moved.error().message());
}

// Another try whenever it matters: a keyring that was locked may be open by now.
bool Supervisor::know_secrets(const Plan& plan)
{
    if (secrets_ && (secrets_->patterns() || secret_names(plan).empty())) return true;
    auto loaded = RunSecrets::load(context_, plan);
    secrets_.reset();
    if (loaded) secrets_ = std::move(*loaded);
    return secrets_.has_value();
}

void Supervisor::tell(const std::string& kind, const std::string& text) const
{
    context_.tell(run_.id, kind, secrets_ ? secrets_->hide(text) : not_shown);
}

Error Supervisor::hidden(const Error& error) const
{
    if (secrets_) return secrets_->hide(error);
    return {error.kind(), not_shown, error.hint()};
}

Result<target::ContainerWish> Supervisor::container_wish(const ContainerPlan& plan) const
{
    using Tree = target::ContainerWish::Tree;
    target::ContainerWish wish{.image = plan.image,
                               .tree = plan.tree_mounted ? Tree::mounted : Tree::copied,
                               .shm_size = plan.shm_size,
                               .arguments = plan.arguments,
                               .registry_username = plan.registry_username,
                               .registry_password = plan.registry_password};
    if (const auto secret = secrets::reference_name(plan.registry_password))
        wish.registry_password =
            TRY(context_.secrets.get(*secret).map_error(while_doing("password of the registry")));
    return wish;
}

Result<target::JobSpec> Supervisor::job_spec(const Plan& plan)
{
    target::JobSpec spec;
    spec.id = run_.id;
    spec.token = to_hex(random_bytes(16));
    spec.directory = directory();
    if (!parse_digest(run_.snapshot, spec.snapshot))
        return fail(ErrorKind::damaged, "run '{}' has no snapshot", run_.id.text());
    spec.source = run_.project_path;
    spec.framework = plan.framework;
    spec.script = plan.script;
    spec.arguments = plan.arguments;
    spec.command = plan.command;
    spec.interpreter = plan.interpreter;
    spec.spark_options = plan.spark_options;
    spec.shared_directory = plan.shared_directory;
    spec.time_limit = std::chrono::seconds(plan.time_limit_seconds);
    for (const auto& [name, value] : plan.variables) {
        const auto secret = secrets::reference_name(value);
        spec.variables.emplace_back(name,
                                    secret ? TRY(context_.secrets.get(*secret).map_error(
                                                 while_doing("variable '{}'", name)))
                                           : value);
    }
    if (plan.container) {
        using Missing = target::EnvironmentWish::Missing;
        spec.container = TRY(container_wish(*plan.container));
        spec.environment = {.file = plan.conda_file,
                            .project = run_.project,
                            .target = plan.target,
                            .network = plan.container->build_network,
                            .missing = plan.container->prepare ? Missing::build : Missing::refuse};
    }
    auto wishes = wishes_.lock();
    if (wishes->ambient) {
        spec.ambient = wishes->ambient->environment;
        spec.umask = wishes->ambient->umask;
    }
    return spec;
}

Result<> Supervisor::launch(const Plan& plan, std::stop_token stop)
{
    if (cancel_wished()) return fail(ErrorKind::cancelled, "cancelled before it had begun");
    auto spec = TRY(job_spec(plan));
    secrets_ = TRY(RunSecrets::load(context_, plan));
    const auto begin = boot_milliseconds();
    auto launched = executor_->launch(spec, stop);
    for (auto& [name, value] : spec.variables)
        wipe(value);
    if (!launched) {
        // Half a launch must not come to life later.
        static_cast<void>(executor_->cancel(job(), directory(), 0s));
        return tl::unexpected(launched.error());
    }
    run_.job = *launched;
    run_.timings["start"] = boot_milliseconds() - begin;
    wishes_.lock()->ambient.reset();  // used; not kept longer than needed
    return {};
}

}  // namespace ponk::engine

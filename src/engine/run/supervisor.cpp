// SPDX-License-Identifier: Apache-2.0
#include "engine/run/supervisor.hpp"

#include "base/seal.hpp"
#include "base/text.hpp"
#include "engine/run/make_job.hpp"
#include "engine/run/run_note.hpp"
#include "engine/tracked/run_tracking.hpp"
#include "engine/tracked/tracked_records.hpp"
#include "os/variables.hpp"

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

Supervisor::Supervisor(const Context& context,
                       model::Run run,
                       std::shared_ptr<const Submitter> submitter,
                       Until until,
                       std::function<void()> when_over)
    : context_(context), run_(std::move(run)), directory_(context.run_directory(run_.id)),
      until_(until), when_over_(std::move(when_over))
{
    requests_.lock()->submitter = std::move(submitter);
    if (run_.cancel_requested) requests_.lock()->cancel = model::grace_of(run_.configuration);
    thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
}

Supervisor::~Supervisor() = default;

void Supervisor::offer(std::shared_ptr<const Submitter> submitter)
{
    auto requests = requests_.lock();
    if (!requests->submitter) requests->submitter = std::move(submitter);
    bell_.ring();
}

void Supervisor::cancel(std::chrono::seconds grace)
{
    auto requests = requests_.lock();
    requests->cancel = grace;
    ++requests->cancels;
    bell_.ring();
    step_.request_stop();
    requests->collecting.request_stop();
}

void Supervisor::give_up(const Error& why)
{
    auto requests = requests_.lock();
    requests->give_up = why.message();
    bell_.ring();
    step_.request_stop();
}

bool Supervisor::cancel_requested()
{
    return requests_.lock()->cancel.has_value();
}

std::string Supervisor::handle() const
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
    requests_.lock()->submitter.reset();
    stored_snapshot_ = done && until_ == Until::snapshot;
    ended_ = !stop.stop_requested();
    context_.notifier.ring(run_.id, News::row);
    when_over_();
}

Result<> Supervisor::carry_out(std::stop_token stop)
{
    spec_ = TRY(model::parse_run_spec(run_.configuration));
    if (until_ == Until::snapshot) return store_snapshot();
    executor_ = TRY(context_.executor(spec_));
    if (run_.state < RunState::running) {
        const bool may_be_launched = run_.state >= RunState::queued;
        if (may_be_launched) know_secrets();  // what goes wrong is told without them
        const bool launched = may_be_launched && TRY(was_launched(stop));
        if (!launched) {
            TRY(wait_for_submitter(stop));
            if (run_.state < RunState::queued) TRY(prepare(stop));
            if (is_preparation(spec_)) return finish_preparation();
            TRY(launch(stop));
        }
    }
    return follow(stop);
}

Result<bool> Supervisor::was_launched(std::stop_token stop)
{
    auto asked = executor().sync(handle(), directory(), {}, after(0ms), stop);
    while (!asked && wait_for_target(asked.error(), stop))
        asked = executor().sync(handle(), directory(), {}, after(0ms), stop);
    if (!asked && asked.error().kind() == ErrorKind::not_found) return false;
    const auto status = TRY(asked);
    return status.phase == executor::JobPhase::queued ||
           status.phase == executor::JobPhase::running ||
           status.phase == executor::JobPhase::ended || status.phase == executor::JobPhase::lost;
}

Result<> Supervisor::wait_for_submitter(std::stop_token stop)
{
    const auto deadline = after(client_patience);
    for (;;) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
        if (cancel_requested()) {
            if (run_.state >= RunState::queued) TRY(withdraw_launch(stop));
            return fail(ErrorKind::cancelled, "canceled before it started");
        }
        if (requests_.lock()->submitter) return {};
        const int fds[] = {bell_.fd()};
        const auto rung = os::wait_any(fds, deadline, stop);
        bell_.silence();
        if (!rung && rung.error().kind() == ErrorKind::timeout) break;
    }
    // A supervisor process started just before the crash must not begin later.
    if (run_.state >= RunState::queued) TRY(withdraw_launch(stop));
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              "the daemon was stopped before the run started; nothing was executed",
              "Submit it again."));
}

Result<> Supervisor::try_move(const std::vector<RunState>& path, const store::RunChange& change)
{
    // Whoever hears of the end does not hear that it is out of reach.
    if (model::is_terminal(path.back())) outage_.lock()->reset();
    run_ = TRY(context_.history.update_state(run_.id, run_.state, path, change));
    // Without it the exit record alone would bring the run back after a lost database.
    if (model::is_terminal(run_.state))
        static_cast<void>(write_last_note(directory().root(), run_));
    context_.notifier.ring(run_.id, News::row);
    return {};
}

Result<> Supervisor::move_through(const std::vector<RunState>& path, const store::RunChange& change)
{
    const auto reserved = path.back() >= RunState::finalizing ? Reserved::give : Reserved::keep;
    for (;;) {
        const auto moved = try_move(path, change);
        if (moved || !may_pass(moved.error()) || !wait_for_room(moved.error(), reserved))
            return moved;
    }
}

Result<> Supervisor::move_to(RunState state, const store::RunChange& change)
{
    return move_through({state}, change);
}

bool Supervisor::may_pass(const Error& problem) const
{
    return problem.kind() == ErrorKind::unavailable && !context_.history.failure();
}

bool Supervisor::wait_for_room(const Error& problem, Reserved reserved)
{
    if (reserved == Reserved::give) context_.reserve().release();
    if (++waits_for_room_ == 2)  // the reserve was not enough
        tell("notice", "the run's result is recorded as soon as possible: " + problem.message());
    return os::sleep_for(waits_for_room_ > 1 ? 1000ms : 1ms, stop_);
}

// Tells them to whoever follows; returns what to keep with the run. A script can make any number of
// odd files, so the list has an end.
std::vector<std::string> Supervisor::tell_warnings(executor::Notices notices)
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
    const bool cancelled = cancel_requested();
    if (!cancelled) change.error = hidden(error);
    if (!run_.gpu.is_null()) change.gpu = final_gpu();
    if (is_preparation(spec_) && executor_ != nullptr)
        static_cast<void>(executor().clean(handle(), directory()));
    const auto state = cancelled ? RunState::canceled : RunState::failed;
    end_what_it_made(state, *change.ended);
    const auto moved = move_to(state, change);
    if (!moved) tell("notice", "the end could not be recorded: " + moved.error().message());
}

// Before its own end is recorded: a daemon that is killed in between does it again.
void Supervisor::end_what_it_made(RunState state, std::int64_t ended)
{
    const auto done = end_child_runs(context_, run_.id, state, ended);
    if (!done)
        tell("notice", "the end of its child runs is not recorded: " + done.error().message());
}

// Another try whenever it matters: a keyring that was locked may be open by now.
bool Supervisor::know_secrets()
{
    if (secrets_ && (secrets_->patterns() || secret_names(spec_).empty())) return true;
    auto loaded = RunSecrets::load(context_, spec_);
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

Result<executor::Job> Supervisor::job_of()
{
    const auto submitter = requests_.lock()->submitter;
    auto job = TRY(make_job(context_, run_, spec_, submitter.get()));
    job.context.tracking = TRY(track_run(context_, run_));
    job.context.tracking.token = job.context.token;
    return job;
}

// Half a launch must not come to life later. A target that is away hears of it once it is back.
Result<> Supervisor::withdraw_launch(const std::stop_token& stop)
{
    auto done = executor().cancel(handle(), directory(), 0s);
    while (!done && wait_for_target(done.error(), stop))
        done = executor().cancel(handle(), directory(), 0s);
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
    return {};
}

std::optional<Outage> Supervisor::outage() const
{
    return ended_ ? std::nullopt : *outage_.lock();
}

bool Supervisor::wait_for_target(const Error& problem, const std::stop_token& stop)
{
    if (stop.stop_requested() || !note_outage(problem)) return false;
    return os::sleep_for(250ms, stop);
}

bool Supervisor::note_outage(const Error& problem)
{
    if (problem.kind() != ErrorKind::unreachable) return false;
    const auto text = hidden(problem).message();
    {
        auto outage = outage_.lock();
        const bool is_known = outage->has_value();
        *outage = Outage{is_known ? (*outage)->since : wall_milliseconds(), text};
        if (is_known) return true;
    }
    tell("notice", "the target cannot be reached; work that was started there continues: " + text);
    return true;
}

void Supervisor::note_reached()
{
    const auto outage = std::exchange(*outage_.lock(), std::nullopt);
    if (!outage) return;
    const auto span = std::max<std::int64_t>(0, wall_milliseconds() - outage->since);
    tell("notice", "the target is reachable again, after " + brief_duration_text(span));
}

Result<> Supervisor::launch(std::stop_token stop)
{
    if (cancel_requested()) return fail(ErrorKind::cancelled, "canceled before it started");
    auto job = TRY(job_of());
    secrets_ = TRY(RunSecrets::load(context_, spec_));
    const auto begin = boot_milliseconds();
    auto launched = executor().launch(job, stop);
    // Whether it was heard is not known: asking again starts no second one.
    while (!launched && !cancel_requested() && wait_for_target(launched.error(), stop))
        launched = executor().launch(job, stop);
    for (auto& [name, value] : job.context.secrets)
        wipe(value);
    if (!launched) {
        // The next daemon finds it, or nothing.
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
        TRY(withdraw_launch(stop));
        // It may have been heard, and have begun before the request to end.
        if (cancel_requested() && TRY(was_launched(stop))) return {};
        return tl::unexpected(launched.error());
    }
    note_reached();
    run_.job = *launched;
    // Its first state brings the name with it; one that cannot be guessed must not be lost before.
    if (run_.job != run_.id.text()) {
        store::RunChange change;
        change.job = run_.job;
        while (true) {
            const auto stored = context_.history.update_run(run_.id, change);
            if (stored || !may_pass(stored.error()) ||
                !wait_for_room(stored.error(), Reserved::keep))
                break;
        }
    }
    run_.timings["start"] = boot_milliseconds() - begin;
    requests_.lock()->submitter.reset();  // used; not kept longer than needed
    return {};
}

}  // namespace ponk::engine

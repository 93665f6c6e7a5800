// SPDX-License-Identifier: Apache-2.0
// After the launch: follow the job and read its metrics.
#include "engine/run/run_note.hpp"
#include "engine/run/supervisor.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace ponk::engine {

using executor::JobPhase;
using model::RunState;
using namespace std::chrono_literals;

namespace {

constexpr auto heartbeat = 30s;        // sync wakes by events; this only bounds a missed one
constexpr auto longest_pause = 10s;    // between two tries to cancel
constexpr auto longest_deafness = 1s;  // a cancel that is repeated by its user is tried at once

}  // namespace

Result<> Supervisor::follow(std::stop_token stop)
{
    executor::JobStatus seen;
    JournalReader journals(context_, run_.id);
    // A locked keyring takes its time to say so; that must not delay a cancel again and again.
    if (!know_secrets()) journals.put_off();
    Cancelling cancelling;
    bool away = false;
    int burst = 0;
    std::string last_problem;
    for (;;) {
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
        if (const auto why = requests_.lock()->give_up)
            return finalize({.phase = JobPhase::lost, .reason = *why}, journals, stop);
        if (const auto request = requests_.lock()->cancel; request && !cancelling.sent)
            try_to_cancel(cancelling, *request);
        auto until = std::min({after(heartbeat), journals.due(), place_is_due()});
        if (cancelling.tried && !cancelling.sent)
            until = std::min({until, cancelling.next, after(longest_deafness)});
        if (away) until = after(0ms);  // nothing new, and it is back all the same
        // Before a cancel was tried its arrival must end the wait; afterwards only our own end.
        auto status = executor().sync(
            handle(), directory(), seen, until, cancelling.tried ? stop : step_.get_token());
        if (!status) {
            if (status.error().kind() == ErrorKind::cancelled) continue;
            std::error_code problem;
            if (wait_for_target(status.error(), stop)) {
                away = true;
                // Its log may have grown all the same.
                const auto length = std::filesystem::file_size(directory().task() / "log", problem);
                if (!problem && std::exchange(seen.log_length, length) != length)
                    context_.notifier.ring(run_.id);
                continue;
            }
            if (status.error().kind() != ErrorKind::timeout) note_reached();
            if (!std::filesystem::exists(directory().task() / "spec", problem) && !problem &&
                !std::filesystem::exists(directory().root() / "host", problem) && !problem) {
                return finalize({.phase = JobPhase::lost,
                                 .reason = "the run's folder was removed while it was running"},
                                journals,
                                stop);
            }
            if (status.error().message() != last_problem) {
                last_problem = status.error().message();
                tell("notice", "the run cannot be followed now: " + last_problem);
            }
            os::sleep_for(1s, stop);
            continue;
        }
        seen = std::move(*status);
        if (std::exchange(away, false)) cancelling.next = {};  // now it may be heard
        const bool is_over = seen.phase == JobPhase::ended || seen.phase == JobPhase::lost;
        if (is_over || !cancelling.away) note_reached();
        // Of GPUs that it waits for its GPU monitor tells more.
        const bool waits = seen.phase == JobPhase::queued && seen.gpu.empty();
        if ((seen.phase == JobPhase::running || waits) && !seen.reason.empty() &&
            seen.reason != last_problem) {
            last_problem = seen.reason;
            tell("notice", last_problem);
        }
        if (is_over) return finalize(seen, journals, stop);
        note_gpu(seen.gpu);
        if (seen.phase == JobPhase::queued && run_.state == RunState::starting) {
            store::RunChange change;
            change.job = run_.job;
            if (!run_.gpu.is_null()) change.gpu = run_.gpu;
            change.timings = run_.timings;
            const auto moved = try_move({RunState::queued}, change);
            if (!moved && !may_pass(moved.error())) return moved;
            if (moved) gpu_is_kept_ = true;
        }
        keep_place_in_queue();
        if (seen.phase == JobPhase::running && run_.state < RunState::running) {
            store::RunChange change;
            change.started = seen.started;
            change.job = run_.job;
            change.timings = run_.timings;
            if (!run_.gpu.is_null()) change.gpu = run_.gpu;
            // On a full disk its end is not missed meanwhile.
            const auto moved = try_move(run_.state == RunState::queued
                                            ? std::vector{RunState::starting, RunState::running}
                                            : std::vector{RunState::running},
                                        change);
            if (!moved && !may_pass(moved.error())) return moved;
            if (moved) {
                if (const auto kept = keep_first_note(directory().root()); !kept)
                    context_.tell(run_.id, "notice", "its note: " + kept.error().message());
            }
        }
        context_.notifier.ring(run_.id);
        journals.note_length(seen.journal_length);
        if (journals.is_due()) {
            if (know_secrets()) {
                journals.read_some(*secrets_);
                answer_forwarded(journals);
            } else {
                journals.put_off();
            }
        }
        // A script that writes without pause must not keep us spinning.
        if (++burst > 64) {
            burst = 0;
            os::sleep_for(20ms, stop);
        }
    }
}

// A request to end that failed is not the run's end: the job goes on, so it is followed and asked
// again until it hears.
void Supervisor::try_to_cancel(Cancelling& cancelling, std::chrono::seconds grace)
{
    const auto cancels = requests_.lock()->cancels;
    if (cancels != std::exchange(cancelling.cancels, cancels)) cancelling.next = {};
    if (Deadline::clock::now() < cancelling.next) return;
    cancelling.tried = true;
    const auto sent = executor().cancel(handle(), directory(), grace);
    cancelling.sent = sent.has_value();
    cancelling.away = !sent && note_outage(sent.error());
    if (sent) return note_reached();
    cancelling.next = after(cancelling.pause);
    cancelling.pause = std::min<std::chrono::milliseconds>(cancelling.pause * 2, longest_pause);
    if (cancelling.away || sent.error().message() == cancelling.problem) return;
    cancelling.problem = sent.error().message();
    tell("notice", "it cannot be canceled now; ponk tries again: " + cancelling.problem);
}

// What cannot be told is not heard: the script is told that nobody answered.
void Supervisor::answer_forwarded(JournalReader& journals) const
{
    for (const auto& ask : journals.take_forwarded()) {
        const auto answer = context_.answer ? context_.answer(run_.id, ask) : std::string();
        if (answer.empty()) continue;
        static_cast<void>(executor().deliver(handle(), directory(), ask.text("ask"), answer));
    }
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
// After the job's end: read the rest of its metrics, bring home what it made, record what became of
// it.
#include "base/text.hpp"
#include "engine/plan/inputs.hpp"
#include "engine/run/end_advice.hpp"
#include "engine/run/merge_kept.hpp"
#include "engine/run/missing_files.hpp"
#include "engine/run/old_names.hpp"
#include "engine/run/supervisor.hpp"
#include "executor/events/event_places.hpp"
#include "executor/run_directory/finish_copy.hpp"
#include "executor/run_directory/object_trees.hpp"
#include "executor/run_directory/output_names.hpp"
#include "os/tree.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ponk::engine {

using model::RunState;
using namespace std::chrono_literals;

namespace {

constexpr auto longest_reading = 5min;

Json evidence_of(const model::ExitRecord& exit)
{
    JsonObject evidence{{"by", exit.by},
                        {"cause", exit.cause},
                        {"signal", exit.signal},
                        {"log_length", exit.log_length},
                        {"log_sha256", exit.log_sha256},
                        {"user_ms", exit.user_ms},
                        {"system_ms", exit.system_ms},
                        {"max_rss_kib", exit.max_rss_kib},
                        {"survivors", exit.survivors}};
    if (!exit.survivor_commands.empty()) evidence.set("survivor_commands", exit.survivor_commands);
    if (exit.oom_kills >= 0) evidence.set("oom_kills", exit.oom_kills);
    if (!exit.oom_evidence.empty()) evidence.set("oom_evidence", exit.oom_evidence);
    if (exit.unkillable > 0) evidence.set("unkillable", exit.unkillable);
    return evidence;
}

Error out_of_memory(const model::ExitRecord& exit, const Json& environment)
{
    const auto limit = environment.integer("memory_limit");
    const auto evidence = "\nSource: OOM kills counted by the " + exit.oom_evidence + ".";
    if (limit <= 0) {
        return {ErrorKind::unavailable,
                "the kernel killed the script: out of memory",
                "Reduce its memory use (smaller batches, fewer workers), or use a machine with "
                "more memory." +
                    evidence};
    }
    return {ErrorKind::unavailable,
            fmt::format("the kernel killed the script: out of memory (the container's limit is {})",
                        byte_size_text(static_cast<std::uint64_t>(limit))),
            "Set another limit with '--memory=SIZE' in 'environment.docker.arguments' of the run "
            "configuration (default: 90 % of the machine's memory; 0: no limit). Or reduce the "
            "script's memory use: smaller batches, fewer workers." +
                evidence};
}

// Our own reason for an end, where the script did not choose it.
std::optional<Error>
reason_of(const model::ExitRecord& exit, const RunSpec& spec, const Json& environment)
{
    if (exit.cause == "start-failure") {
        return Error(ErrorKind::unavailable,
                     "the script could not be started: " + exit.message,
                     exit.message.find("Argument list too long") != std::string::npos
                         ? "The arguments and environment variables are too long for the system: "
                           "give long values in a file."
                         : "Check the interpreter and the script's permissions.");
    }
    if (exit.cause == "time-limit") {
        const auto limit = std::chrono::milliseconds(spec.resources.time_limit).count();
        if (spec.location.slurm && (limit == 0 || exit.duration_ms < limit))
            return Error(ErrorKind::timeout,
                         "Slurm's time limit was reached",
                         "Request more time, such as 'time: 4:00:00' below 'sbatch' in the "
                         "target's .compute file, or choose another partition.");
        return Error(
            ErrorKind::timeout,
            fmt::format("the time limit of {} s was reached", spec.resources.time_limit.count()),
            "Raise maxRunDurationSeconds, or submit with a larger --time-limit.");
    }
    if (exit.cause == "preempted") {
        return Error(ErrorKind::unavailable,
                     "the run was preempted: Slurm gave its place to a job of higher priority",
                     "'ponk experiment rerun' repeats the run.");
    }
    if (exit.cause == "host-lost") {
        return Error(ErrorKind::unavailable,
                     "the node of the run failed, as Slurm reports",
                     "'ponk experiment rerun' repeats the run.");
    }
    if (exit.cause == "out-of-memory") {
        return Error(ErrorKind::unavailable,
                     "Slurm ended the run: it used more memory than the job was given",
                     "Request more, such as 'mem: 32G' below 'sbatch' in the target's .compute "
                     "file, or reduce the script's memory use.");
    }
    if (exit.cause == "terminated" && !exit.message.empty())
        return Error(ErrorKind::unavailable,
                     exit.message,
                     "Somebody of the cluster, or 'scancel', removed it. 'ponk experiment rerun' "
                     "repeats the run.");
    if (exit.cause == "terminated") {
        return Error(ErrorKind::unavailable,
                     "the run was ended from outside ponk (its supervisor got SIGTERM)",
                     "This happens when a machine shuts down or a container engine restarts; 'ponk "
                     "experiment rerun' repeats the run.");
    }
    if (exit.signal == 9 && exit.oom_kills > 0) return out_of_memory(exit, environment);
    return std::nullopt;
}

RunState end_state(const model::ExitRecord& exit)
{
    if (exit.cause == "cancel") return RunState::canceled;
    return exit.cause == "script" && exit.status() == 0 ? RunState::completed : RunState::failed;
}

// Of a run whose end nobody knows.
std::string what_is_left(const Context& context, const model::Run& run)
{
    if (os::open_regular(context.log_of(run.id).path, os::Links::refuse))
        return "Its log and outputs are kept.";
    std::error_code problem;
    if (run.started == 0 && std::filesystem::exists(context.run_directory(run.id).root(), problem))
        return "'ponk experiment rerun " + run.id.brief() + "' repeats it.";
    return "Its log and outputs were lost with its folder; 'ponk project restore " +
           run.id.brief() + "' restores the files that it was started with.";
}

}  // namespace

bool Supervisor::may_have_outputs() const
{
    const auto* const copies = executor().working_copies();
    return copies == nullptr || copies->may_have_outputs(directory());
}

Result<executor::Collected> Supervisor::collect_outputs(std::stop_token stop)
{
    if (!spec_.policy.collect_outputs) return executor::Collected();
    if (!secrets_) {
        return tl::unexpected(Error(ErrorKind::unavailable,
                                    "a secret of this run cannot be read, so it could be in the "
                                    "names of files"));
    }
    const auto hide_names = [this](const Path& outputs) { return secrets_->hide_names(outputs); };
    // A run that was cancelled before has its outputs collected; a cancel from now on ends that.
    std::stop_source ends;
    const std::stop_callback chain(stop, [&ends] { ends.request_stop(); });
    requests_.lock()->collecting = ends;
    auto collected = executor().collect(handle(), directory(), hide_names, ends.get_token());
    // What a run wrote waits on its target until that is there again.
    while (!collected && !ends.stop_requested() && wait_for_target(collected.error(), stop))
        collected = executor().collect(handle(), directory(), hide_names, ends.get_token());
    requests_.lock()->collecting = std::stop_source(std::nostopstate);
    if (collected) note_reached();
    if (!collected && ends.stop_requested())
        return fail(ErrorKind::cancelled, "it was canceled before all of them were stored");
    return collected;
}

// An end is not put off for ever by what a script left to read: there is a limit, and whoever asks
// for the end once more gets it.
Result<executor::Notices> Supervisor::read_last_metrics(JournalReader& journals,
                                                        const std::stop_token& stop)
{
    if (!know_secrets()) {
        context_.tell(run_.id,
                      "notice",
                      "metrics were not read: a secret of this run cannot be read, so it could be "
                      "in them; they are still in the run's folder");
        return executor::Notices();
    }
    const auto limit = after(longest_reading);
    const auto cancels = requests_.lock()->cancels;
    bool enough = false;
    journals.begin_again();
    while (!enough) {
        const auto progress = journals.read_some(*secrets_);
        if (const auto problem = journals.problem(); problem && may_pass(*problem)) {
            static_cast<void>(wait_for_room(*problem, Reserved::give));
            journals.begin_again();
        } else if (progress == JournalReader::Progress::done) {
            break;
        }
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
        enough = Deadline::clock::now() >= limit || requests_.lock()->cancels != cancels;
    }
    auto notices = journals.findings();
    if (const auto told = executor::usual_folders_notice(directory()))
        context_.tell(run_.id, "notice", *told);
    if (enough) {
        notices.push_back(fmt::format("{} of its metric journals were not read completely, {}; "
                                      "they are still in the run's folder",
                                      journals.left(),
                                      requests_.lock()->cancels != cancels
                                          ? "because it was canceled"
                                          : "because it took too long"));
    }
    return notices;
}

// Once, while all of it is likely to be in memory; a large log is checked when it is read.
void Supervisor::check_log(const model::ExitRecord& exit, executor::Notices& notices)
{
    const auto damage = find_log_damage(
        context_.log_of(run_.id), log_promise(exit), LogDepth::cheap, *context_.log_digests, stop_);
    if (damage && *damage) notices.push_back((*damage)->message());
    if (exit.log_sha256.empty() && exit.log_length > 0) {
        notices.emplace_back("its log has holes that are too large to read: they are not shown, "
                             "and the log has no checksum");
    }
}

// A script that failed may have looked for a file that stayed at home, for a user, or for a name of
// old.
void Supervisor::add_file_advice(const model::ExitRecord& exit, executor::Notices& notices)
{
    if (exit.cause != "script" || exit.status() == 0 || !secrets_) return;
    constexpr std::uint64_t enough = 64 << 10;
    const auto log = os::open_regular(context_.log_of(run_.id).path, os::Links::refuse);
    os::FileStatus status;
    if (!log || os::status_of(log->get(), status) != 0) return;
    const auto begin = status.size > enough ? status.size - enough : 0;
    const auto tail = os::read_at(log->get(), begin, status.size - begin);
    if (!tail) return;
    const std::vector<Path> trees{directory().work(), executor::RunDirectory::work_in_container};
    if (auto advice = advise_on_missing_files(*tail, run_.project_path, trees, spec_))
        notices.push_back(secrets_->hide(*advice));
    if (auto advice = advise_on_empty_input(*tail, trees, spec_))
        notices.push_back(secrets_->hide(*advice));
    if (auto advice = advise_on_old_names(*tail, spec_)) notices.push_back(secrets_->hide(*advice));
}

// Inputs are not copies: what changed meanwhile, the run may have read.
void Supervisor::check_inputs(const std::stop_token& stop, executor::Notices& notices)
{
    for (const auto& input : spec_.inputs) {
        const auto now = measure(input, stop);
        if (!now) {
            notices.push_back(fmt::format("input '{}' cannot be examined any more: {}",
                                          printable(input.path),
                                          now.error().message()));
        } else if (const auto text = difference(input, *now); !text.empty()) {
            notices.push_back(text + ": it changed while the run used it");
        }
    }
}

// What the run left outside of `outputs`. nullopt: it cannot be compared with the snapshot.
Result<std::optional<Supervisor::EndedCopy>> Supervisor::end_copy(const model::ExitRecord& exit,
                                                                  std::stop_token stop)
{
    auto* const copies = executor().working_copies();
    if (copies == nullptr || exit.unkillable > 0 || !secrets_) return std::optional<EndedCopy>();
    const auto& keep =
        spec_.policy.collect_outputs ? spec_.policy.keep : std::vector<std::string>();
    if (spec_.location.kind == model::Location::Kind::host) {
        auto rest = copies->finish(handle(), directory(), keep, stop);
        while (!rest && !stop.stop_requested() && wait_for_target(rest.error(), stop))
            rest = copies->finish(handle(), directory(), keep, stop);
        if (!rest) return tl::unexpected(rest.error());
        note_reached();
        return EndedCopy{std::move(*rest), {}};
    }
    const auto& container = spec_.runtime.container;
    Digest snapshot{};
    if ((container && container->tree == model::Container::Tree::copied) ||
        !parse_digest(run_.snapshot, snapshot))
        return std::optional<EndedCopy>();
    const auto before = context_.objects.read_manifest(snapshot);
    if (!before) return std::optional<EndedCopy>();
    executor::EndedRun run{directory(), *before, {}, keep};
    for (const auto& input : spec_.inputs)
        run.inputs.push_back(input.path);
    auto done =
        TRY(executor::finish_copy(executor::trees_of(context_.objects), run, std::move(stop)));
    if (!done) return std::optional<EndedCopy>();
    return EndedCopy{std::move(done->rest), std::move(done->leftovers)};
}

// Files that only the run's copy has are named, so that they are not missed later; those that it
// shall keep are from now on among its outputs.
Result<> Supervisor::keep_files(executor::Rest& rest,
                                Result<executor::Collected>& outputs,
                                executor::Notices& notices)
{
    if (!rest.left.empty()) {
        const bool one = rest.left_files == 1;
        // Other hosts have limits of their own.
        const auto days =
            std::chrono::duration_cast<std::chrono::hours>(context_.copy_rules.largest_age)
                .count() /
            24;
        const auto until = days > 0 && spec_.location.kind == model::Location::Kind::here
                               ? fmt::format(", at most {} day{}", days, days == 1 ? "" : "s")
                               : "";
        notices.push_back(fmt::format("{} {} kept in the run's copy of the project until that is "
                                      "cleaned{}: 'ponk experiment return {}' copies {} into the "
                                      "project",
                                      rest.left,
                                      one ? "is" : "are",
                                      until,
                                      run_.id.brief(),
                                      one ? "it" : "them"));
    }
    for (auto& notice : rest.notices)
        notices.push_back(std::move(notice));
    if (!rest.kept || !outputs) return {};
    const auto hide = [this](const Path& folder) { return secrets_->hide_names(folder); };
    const auto kept = TRY(executor::rename_entries(
        TRY(context_.objects.read_manifest(*rest.kept)), directory(), hide));
    outputs->outputs = TRY(merge_kept(context_.objects, outputs->outputs, kept, notices));
    tell("notice",
         fmt::format("{} file{} ({}) outside of outputs/ {} collected with the outputs: {}",
                     rest.kept_files,
                     rest.kept_files == 1 ? "" : "s",
                     byte_size_text(static_cast<std::uint64_t>(rest.kept_bytes)),
                     rest.kept_files == 1 ? "was" : "were",
                     outermost_names(kept)));
    return {};
}

Result<> Supervisor::finalize(const executor::JobStatus& status,
                              JournalReader& journals,
                              std::stop_token stop)
{
    auto about_metrics = TRY(read_last_metrics(journals, stop));
    note_gpu(status.gpu);
    store::RunChange change;
    if (!run_.gpu.is_null()) change.gpu = final_gpu();
    change.job = run_.job;
    change.timings = run_.timings;
    // One that waited for GPUs, or failed to get them, never began.
    const bool never_began = status.exit && status.exit->by == "monitor";
    if (status.exit && !never_began) {
        change.started = status.exit->started;
        change.timings["run"] = status.exit->duration_ms;
    }
    const auto begin = boot_milliseconds();
    Result<executor::Collected> outputs = executor::Collected();
    std::vector<RunState> path;
    if (run_.state == RunState::queued) path.push_back(RunState::starting);
    if (run_.state != RunState::finalizing) path.push_back(RunState::finalizing);
    if (spec_.policy.collect_outputs && may_have_outputs()) {
        // Worth a state of its own to be seen: this can take a while.
        if (!path.empty()) TRY(move_through(path, change));
        path.clear();
        outputs = collect_outputs(stop);
        // Event files among outputs that were in a container until now.
        if (spec_.runtime.container &&
            spec_.runtime.container->tree == model::Container::Tree::copied)
            about_metrics = TRY(read_last_metrics(journals, stop));
    }
    Result<std::optional<EndedCopy>> copy = std::optional<EndedCopy>();
    executor::Notices about_copy;
    if (status.exit && !never_began) copy = end_copy(*status.exit, stop);
    if (copy && *copy) {
        if (const auto done = keep_files((*copy)->rest, outputs, about_copy); !done)
            copy = tl::unexpected(done.error());
    }
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "the daemon stops");
    if (outputs && outputs->outputs) change.outputs = outputs->outputs->text();
    auto notices = outputs ? std::move(outputs->notices) : executor::Notices();
    if (!copy)
        about_copy.push_back("files outside of outputs/ were not looked for: " +
                             copy.error().message());
    for (auto& notice : about_copy)
        notices.push_back(secrets_ ? secrets_->hide(notice) : std::move(notice));
    if (status.exit && !status.reason.empty()) notices.push_back(status.reason);
    for (auto& notice : about_metrics)
        notices.push_back(secrets_ ? secrets_->hide(notice) : notice);
    if (status.exit && status.exit->disk_full > 0)
        notices.emplace_back("the disk with its log was full on the machine where it ran: the end "
                             "of the log may be missing, and this may be why the run ended");
    if (status.exit) check_log(*status.exit, notices);
    if (status.exit) add_file_advice(*status.exit, notices);
    if (auto left = status.exit ? survivors_text(*status.exit) : ""; !left.empty() && secrets_)
        notices.push_back(secrets_->hide(left));
    if (spec_.location.kind == model::Location::Kind::here) check_inputs(stop, notices);
    change.warnings = tell_warnings(std::move(notices));
    change.timings["collect"] = boot_milliseconds() - begin;
    const auto end = [&](RunState state) {
        end_what_it_made(state, *change.ended);
        path.push_back(state);
        return move_through(path, change);
    };
    if (!status.exit) {
        change.ended = wall_milliseconds();
        change.error = Error(ErrorKind::unavailable, status.reason, what_is_left(context_, run_));
        return end(RunState::lost);
    }
    auto exit = *status.exit;
    // Arguments of programs may be secrets.
    exit.survivor_commands = secrets_ ? secrets_->hide(exit.survivor_commands) : "";
    // On a full disk a cancel reaches the supervisor as a signal alone.
    if (exit.cause == "terminated" && cancel_requested()) exit.cause = "cancel";
    change.ended = exit.ended;
    change.evidence = evidence_of(exit);
    if (copy && *copy)
        change.evidence->as_object().set(
            "left",
            JsonObject{{"files", (*copy)->rest.left_files}, {"bytes", (*copy)->rest.left_bytes}});
    if (exit.cause != "start-failure" && !never_began) change.exit_code = exit.status();
    if (const auto reason = reason_of(exit, spec_, run_.environment))
        change.error = hidden(*reason);
    auto state = end_state(exit);
    const bool ended_by_monitor = !run_.gpu.text("enforced").empty() && !cancel_requested();
    if (ended_by_monitor || state == RunState::completed) {
        if (auto broken = broken_gpu_requirement()) {
            state = RunState::failed;
            change.error = std::move(broken);
        }
    }
    if (!outputs) {
        change.error = hidden(outputs.error())
                           .within("collect outputs")
                           .with_hint("The files are still in the run's folder: 'ponk experiment "
                                      "return' copies them.");
        if (outputs.error().kind() == ErrorKind::cancelled) {
            state = RunState::canceled;
        } else if (state == RunState::completed) {
            state = RunState::failed;
        }
    }
    TRY(end(state));
    if (copy && *copy) executor::remove_unchanged(directory().work(), (*copy)->leftovers);
    executor::note_trimmed(directory());
    return {};
}

}  // namespace ponk::engine

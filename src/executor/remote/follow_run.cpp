// SPDX-License-Identifier: Apache-2.0
#include "executor/remote/follow_run.hpp"

#include "base/text.hpp"
#include "executor/remote/host_file.hpp"
#include "executor/remote/link/host_pool.hpp"
#include "executor/remote/run_copy.hpp"
#include "executor/remote/wire/message.hpp"
#include "executor/run_directory/control_directory.hpp"
#include "executor/run_directory/run_files.hpp"

#include <algorithm>

namespace ponk::executor::remote {

using namespace std::chrono_literals;

namespace {

// The longest that one question may stay open on the host.
constexpr auto longest_poll = 25s;

// Left free on this machine's disk by copies that are not small.
constexpr std::uint64_t reserve = std::uint64_t{512} << 20;
constexpr std::uint64_t small_copy = std::uint64_t{64} << 20;

bool has_room_for(const RunDirectory& directory, std::size_t bytes)
{
    const auto space = os::free_space(directory.root());
    if (bytes == 0 || !space || *space >= reserve + bytes) return true;
    JobStatus here;
    read_lengths(directory, here);
    return here.log_length + here.journal_length < small_copy;
}

// Who collects the run later must not say that all of it is here.
Result<> note_rest(const RunDirectory& directory, bool rest)
{
    const auto mark = directory.task() / mark::rest_there;
    return rest ? os::replace_file(mark, "") : os::remove_tree(mark);
}

std::string what_stays_there(const std::string& host, bool crowded, const Json& end)
{
    if (crowded) {
        return fmt::format("less than {} are left on the disk of this machine: the rest of the log "
                           "and metrics stays on '{}'",
                           byte_size_text(reserve),
                           host);
    }
    const auto journals = end.integer("left_out");
    if (journals <= 0) return "";
    return fmt::format(
        "{1} metric journals are too many or too long to fetch, and stay on '{0}'", host, journals);
}

}  // namespace

Result<JobStatus> FollowRun::once(const std::string& job,
                                  const SealedFiles& files,
                                  const RunDirectory& directory,
                                  const JobStatus& seen,
                                  Deadline deadline,
                                  const std::stop_token& stop)
{
    const auto host = TRY(read_host(directory));
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Deadline::clock::now());
    const auto wait = std::clamp(left, 0ms, std::chrono::milliseconds(longest_poll));
    auto request = calls_.about("sync", job);
    auto& head = request.head;
    head.set("seen", to_json(JobStatus{.phase = seen.phase, .started = seen.started}));
    head.set("files", to_json(growing_files(directory)));
    head.set("wait", static_cast<std::int64_t>(wait.count()));
    // What would be thrown away here need not travel.
    const auto wanted = has_room_for(directory, most_at_once) ? Wanted::bytes : Wanted::lengths;
    head.set("bytes", wanted == Wanted::bytes);
    const auto connection = TRY(calls_.reach(directory, host, stop));
    auto asked =
        AgentCalls::ask(*connection, host, std::move(request), after(wait + usual_patience), stop);
    if (!connection->broken()) {
        // It answers, and may not be able to say anything about the run.
        if (!asked && asked.error().kind() == ErrorKind::unreachable)
            calls_.note_missing(directory, host);
        else
            calls_.note_found(directory);
    }
    if (!asked && asked.error().kind() == ErrorKind::not_found &&
        is_there(directory.task() / mark::launched)) {
        JobStatus gone{.phase = JobPhase::lost};
        gone.reason = fmt::format("'{}': the run's folder there no longer exists", name_of(host));
        read_lengths(directory, gone);
        return gone;
    }
    auto answer = TRY(std::move(asked));
    // What the files say is here all the same.
    const auto unreachable = answer.head["unreachable"];
    auto status = unreachable.is_null() ? TRY(parse_job_status(answer.head)) : JobStatus();
    Increment increment{.files = TRY(parse_growing_files(answer.head["files"])),
                        .bytes = std::move(answer.payload),
                        .more = answer.head.boolean("more")};
    const bool crowded = wanted == Wanted::lengths
                             ? increment.more
                             : !has_room_for(directory, increment.bytes.size());
    // What is here stays; the rest waits on the host, and nobody waits for it for ever.
    if (crowded) increment.more = false;
    if (!crowded) TRY(apply_increment(directory, increment));
    if (!unreachable.is_null())
        return tl::unexpected(parse_error(unreachable).within("'" + name_of(host) + "'"));
    if (status.reason.empty() && status.phase != JobPhase::lost)
        status.reason = what_stays_there(
            name_of(host), crowded, status.phase == JobPhase::ended ? answer.head : Json());
    const bool over = status.phase == JobPhase::ended || status.phase == JobPhase::lost;
    if (over && increment.more) {
        // Nothing ends before all it said is here.
        status.phase = JobPhase::running;
        status.exit.reset();
    } else if (status.phase == JobPhase::ended) {
        if (crowded) again_.lock()->insert(job);  // once more would find no more room
        TRY(note_rest(directory, crowded || answer.head.integer("left_out") > 0));
        TRY(finish_end(job, files, directory, answer.head, status));
        if (status.exit && is_there(directory.task() / mark::no_outputs))
            calls_.tell_fetched(*connection, job, directory, stop);
    } else if (status.phase == JobPhase::lost) {
        TRY(note_rest(directory, crowded || answer.head.integer("left_out") > 0));
        TRY(keep_one_log(directory, LogState::different));
        status.reason = fmt::format("'{}': {}", name_of(host), status.reason);
    }
    read_lengths(directory, status);
    return status;
}

Result<> FollowRun::finish_end(const std::string& job,
                               const SealedFiles& files,
                               const RunDirectory& directory,
                               const Json& head,
                               JobStatus& status)
{
    const auto log = directory.task() / control::log;
    const auto state = TRY(finish_copy(directory, *status.exit));
    if (state == LogState::different && !again_.lock()->contains(job)) {
        // Changed behind our back, here or there: once more, from its first byte.
        again_.lock()->insert(job);
        TRY(set_log_aside(directory));
        status.phase = JobPhase::running;
        status.exit.reset();
        return {};
    }
    again_.lock()->erase(job);
    TRY(keep_one_log(directory, state));
    if (!is_there(log)) TRY(os::replace_file(log, ""));
    if (!head.boolean("outputs", true))
        TRY(os::replace_file(directory.task() / mark::no_outputs, ""));
    return files.publish(control::exit, model::to_text(*status.exit));
}

}  // namespace ponk::executor::remote

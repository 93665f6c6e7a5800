// SPDX-License-Identifier: Apache-2.0
#include "cli/follow.hpp"

#include "base/text.hpp"
#include "cli/interrupt.hpp"
#include "cli/log_stream.hpp"
#include "model/run_state.hpp"
#include "os/wait.hpp"

#include <thread>
#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool has_ended(const Json& run)
{
    const auto state = model::parse_run_state(run.text("status"));
    return state && model::is_terminal(*state);
}

// Text of several lines, the later ones marked as ours and set in.
std::string lines_of(const std::string& text)
{
    std::string shown;
    for (const std::string& line : split(text, '\n')) {
        if (!shown.empty()) shown += "\nponk:     ";
        shown += printable(trim(line));
    }
    return shown;
}

// Prints progress and notices of a run while its log streams beside it. Whatever goes wrong here
// is not told: the log and the final record are what counts.
class EventPrinter {
public:
    EventPrinter(const Context& context, Daemon daemon, std::string run)
        : context_(context), daemon_(std::move(daemon)), run_(std::move(run)),
          thread_([this](const std::stop_token& stop) { work(stop); })
    {
    }

    // The stream ends with the run; a moment is granted for its last lines.
    void finish()
    {
        os::wait_readable(done_.fd(), after(milliseconds(500)), {});
        thread_.request_stop();
    }

    // No line of ours comes after this.
    void stop()
    {
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
    }

private:
    void work(const std::stop_token& stop)
    {
        for (int left = 50; left > 0 && !stop.stop_requested(); --left) {
            if (daemon_.stream(target(), sink(), seconds(3600), stop)) break;
            os::sleep_for(milliseconds(200), stop);
            auto found = Daemon::find(daemon_.home());
            if (found && *found) daemon_ = std::move(**found);
        }
        done_.ring();
    }

    [[nodiscard]] std::string target() const
    {
        return fmt::format("/runs/{}/events?follow=1&after={}", run_, last_);
    }

    net::Client::Sink sink()
    {
        partial_.clear();
        return [this](std::string_view bytes) {
            partial_ += bytes;
            std::size_t start = 0;
            for (std::size_t end = 0; (end = partial_.find('\n', start)) != partial_.npos;
                 start = end + 1) {
                line(std::string_view(partial_).substr(start, end - start));
            }
            partial_.erase(0, start);
            return true;
        };
    }

    void line(std::string_view text)
    {
        const auto event = parse_json(text);
        if (!event) return;
        last_ = std::max(last_, event->integer("seq"));
        const std::string kind = event->text("kind");
        const std::string said = lines_of(event->text("text"));
        if (kind == "progress" || kind == "notice") context_.note("{}", said);
        if (kind == "state") context_.detail("{}", said);
    }

    const Context& context_;
    Daemon daemon_;
    std::string run_;
    std::int64_t last_ = 0;
    std::string partial_;
    os::Bell done_;
    std::jthread thread_;
};

Result<Json> wait_until_ended(Daemon& daemon, const std::string& run, const std::stop_token& stop)
{
    for (;;) {
        Json record = TRY(daemon.get("/runs/" + run + "/wait?timeout=10", seconds(30)));
        if (has_ended(record)) return record;
        if (stop.stop_requested()) return fail(ErrorKind::cancelled, "stopped while waiting");
    }
}

Outcome
leave(Context& context, Interrupts& interrupts, EventPrinter& events, const std::string& run)
{
    const std::string brief = run.substr(run.size() - std::min<std::size_t>(8, run.size()));
    context.note("detaching, the run goes on; Ctrl-C again within 2 s cancels it");
    if (!interrupts.again_within(seconds(2))) {
        events.stop();
        context.note("detached: run {} goes on; 'ponk logs --follow {}' re-attaches, 'ponk cancel "
                     "{}' ends it",
                     run,
                     brief,
                     brief);
        return exit_code::detached;
    }
    context.note("cancelling run {}", run);
    Daemon* daemon = TRY(context.daemon());
    TRY(daemon->send(
        "POST", "/runs/" + run + "/cancel", Json(JsonObject{}), Daemon::Repeat::when_broken));
    const Json record = TRY(wait_until_ended(*daemon, run, {}));
    report_end(context, record);
    const RunEnd end = end_of(record);
    if (end.error) return tl::unexpected(Failure(*end.error, end.code));
    return end.code;
}

std::string metrics_line(const Json& run)
{
    std::vector<std::string> parts;
    if (!run["metrics"].is_object()) return "";
    for (const auto& [name, value] : run["metrics"].as_object()) {
        std::string text = value.is_string()    ? printable(value.as_string())
                           : value.is_integer() ? std::to_string(value.as_integer())
                           : value.is_number()  ? fmt::format("{:.6g}", value.as_double())
                                                : to_json(value);
        if (text.size() > 40) text = text.substr(0, 37) + "...";
        parts.push_back(printable(name) + " " + text);
        if (parts.size() == 8) break;
    }
    return join(parts, ", ");
}

bool ended_by_time_limit(const Json& run)
{
    return error_kind_from(run["error"].text("kind")) == ErrorKind::timeout;
}

}  // namespace

RunEnd end_of(const Json& run)
{
    const std::string status = run.text("status");
    const std::string id = run.text("run_id");
    const Json& error = run["error"];
    const std::string reason = error.is_object() ? error.text("message") : "";
    const auto ours = [&](ErrorKind kind, const std::string& what) {
        return Error(kind,
                     reason.empty() ? what : what + ": " + reason,
                     error.is_object() ? error.text("hint") : "");
    };
    if (status == "Lost") {
        return {exit_code::lost,
                ours(ErrorKind::damaged,
                     fmt::format("run '{}' is lost: how it ended is not known", id))};
    }
    if (status == "Canceled") {
        return {exit_code::cancelled,
                ours(ErrorKind::cancelled, fmt::format("run '{}' was cancelled", id))};
    }
    if (run["exit_code"].is_integer()) {
        const int code = static_cast<int>(run["exit_code"].as_integer());
        // The script may have ended well and the run failed afterwards, say while collecting.
        if (status == "Failed" && error.is_object() && (code == 0 || ended_by_time_limit(run))) {
            return {exit_code::run_failed,
                    ours(error_kind_from(error.text("kind")), fmt::format("run '{}' failed", id))};
        }
        return {code, std::nullopt};
    }
    if (status == "Completed") return {exit_code::success, std::nullopt};
    return {exit_code::run_failed,
            ours(error.is_object() ? error_kind_from(error.text("kind")) : ErrorKind::internal,
                 fmt::format("run '{}' failed before its script had an exit code", id))};
}

void report_end(const Context& context, const Json& run)
{
    const std::string id = run.text("run_id");
    const std::string brief = id.substr(id.size() - std::min<std::size_t>(8, id.size()));
    std::string line = fmt::format("run {} {}", id, run.text("status"));
    if (run["duration_ms"].is_integer()) {
        line += fmt::format(" in {}", brief_duration_text(run.integer("duration_ms")));
    }
    if (run["exit_code"].is_integer()) {
        const auto code = run.integer("exit_code");
        line += fmt::format(", exit code {}", code);
        if (code > 128 && code < 128 + 65) line += fmt::format(" (signal {})", code - 128);
    }
    context.note("{}", line);
    // Why a script ended that has a code of its own, say for want of memory; our own reasons are
    // the last line.
    if (const RunEnd end = end_of(run); !end.error && run["error"].is_object()) {
        context.note("{}", run["error"].text("message"));
        if (!run["error"].text("hint").empty()) context.note("{}", run["error"].text("hint"));
    }
    const std::string metrics = metrics_line(run);
    if (!metrics.empty()) context.note("metrics: {}", metrics);
    context.note("more: ponk history info {}", brief);
}

Outcome follow_run(Context& context, const std::string& run_id)
{
    Daemon* daemon = TRY(context.daemon());
    const auto asked = context.asked_format();
    const bool as_document = (asked && *asked != output::Format::table) || context.has_query();
    Interrupts interrupts;
    EventPrinter events(context, daemon->beside(), run_id);
    LogWriter writer(as_document ? STDERR_FILENO : STDOUT_FILENO);
    const auto copied =
        copy_log(*daemon, {run_id, 0, Follow::yes, LogForm::masked}, writer, interrupts.token());
    if (!copied && !interrupts.happened()) return tl::unexpected(Failure(copied.error()));
    if (interrupts.happened()) return leave(context, interrupts, events, run_id);
    const auto record = wait_until_ended(*daemon, run_id, interrupts.token());
    if (!record && interrupts.happened()) return leave(context, interrupts, events, run_id);
    if (!record) return tl::unexpected(Failure(record.error()));
    events.finish();
    report_end(context, *record);
    if (as_document) {
        if (auto printed = context.print(*record); !printed) return printed;
    }
    const RunEnd end = end_of(*record);
    if (end.error) return tl::unexpected(Failure(*end.error, end.code));
    return end.code;
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/follow.hpp"

#include "base/text.hpp"
#include "cli/runs/event_printer.hpp"
#include "cli/runs/gpu_view.hpp"
#include "cli/runs/log_stream.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/terminal/interrupt.hpp"
#include "model/run_state.hpp"
#include "os/process.hpp"
#include "output/cell.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace {

using std::chrono::seconds;

bool has_ended(const Json& run)
{
    const auto state = model::parse_run_state(run.text("status"));
    return state && model::is_terminal(*state);
}

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
    context.note("detaching; the run continues. Press Ctrl-C again within 2 s to cancel it");
    if (!interrupts.again_within(seconds(2))) {
        events.stop();
        say_detached(context, run);
        return exit_code::detached;
    }
    context.note("canceling run {}", run);
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
    constexpr std::size_t most = 8;
    const output::Terminal terminal = output::detect_terminal(STDERR_FILENO);
    const Json metrics = brief_metrics(script_metrics(run["metrics"]));
    std::vector<std::string> parts;
    for (const auto& [name, value] : metrics.as_object()) {
        if (parts.size() == most) {
            const auto left = static_cast<std::int64_t>(metrics.as_object().size() - most) +
                              run.integer("metrics_left_out");
            parts.push_back(fmt::format("{} more", left));
            break;
        }
        std::string text = value.type() == Json::Type::real
                               ? fmt::format("{:.6g}", value.as_double())
                               : output::cell_text(value);
        // Names and texts are the script's, of any length; the run's record has them whole.
        const std::size_t room = terminal.width > 0 ? 40 : 100;
        parts.push_back(output::shortened(printable(name), room, terminal) + " " +
                        output::shortened(text, room, terminal));
    }
    return join(parts, ", ");
}

// The script's code is then only that of our signal.
bool ended_by_ponk(const Json& run)
{
    return error_kind_from(run["error"].text("kind")) == ErrorKind::timeout ||
           !run["gpu_evidence"].text("enforced").empty();
}

}  // namespace

void say_detached(const Context& context, const std::string& run)
{
    const std::string brief = run.substr(run.size() - std::min<std::size_t>(8, run.size()));
    const std::string cancel =
        context.asks_server() ? "" : fmt::format(", 'ponk cancel {}' cancels it", brief);
    context.note("detached: run {} continues; 'ponk logs --follow {}' follows it again{}",
                 run,
                 brief,
                 cancel);
}

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
        return {
            exit_code::lost,
            ours(ErrorKind::damaged, fmt::format("run '{}' is lost: its result is not known", id))};
    }
    if (status == "Canceled") {
        return {exit_code::cancelled,
                ours(ErrorKind::cancelled, fmt::format("run '{}' was canceled", id))};
    }
    if (run["exit_code"].is_integer()) {
        const int code = static_cast<int>(run["exit_code"].as_integer());
        // The script may have ended well and the run failed afterwards, say while collecting.
        if (status == "Failed" && error.is_object() && (code == 0 || ended_by_ponk(run))) {
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
        // A script may also leave with such a code by itself.
        if (const auto signal = run["evidence"].integer("signal"); signal > 0)
            line += fmt::format(" ({})", os::signal_name(static_cast<int>(signal)));
    }
    context.note("{}", line);
    // Why a script ended that has a code of its own, say because memory ran out; our own reasons
    // are the last line.
    if (const RunEnd end = end_of(run); !end.error && run["error"].is_object()) {
        context.note("{}", run["error"].text("message"));
        if (!run["error"].text("hint").empty()) context.note("hint: {}", run["error"].text("hint"));
    }
    if (wants_gpus(run)) context.note("gpu: {}", printable(gpu_sentence(run)));
    const std::string metrics = metrics_line(run);
    if (!metrics.empty()) context.note("metrics: {}", metrics);
    if (const std::string made = child_runs_text(run); !made.empty())
        context.note("child runs: {}", made);
    context.note("more: ponk history info {}", brief);
}

namespace {

// A run that was accepted and is unknown now went with the folder that knew it.
Outcome cannot_follow(const Error& error, const std::string& run_id)
{
    if (error.kind() != ErrorKind::not_found) return tl::unexpected(Failure(error));
    return tl::unexpected(
        Failure(Error(ErrorKind::unavailable,
                      fmt::format("run '{}' is lost: ponk's folder was removed or replaced while "
                                  "it was running",
                                  run_id),
                      "Its script may still be running; its results will not be recorded."),
                exit_code::lost));
}

}  // namespace

tl::expected<Json, Failure> follow_preparation(Context& context, const std::string& run_id)
{
    Daemon* daemon = TRY(context.daemon());
    Interrupts interrupts;
    EventPrinter events(context, daemon->beside(), run_id);
    bool cancelled = false;
    for (;;) {
        // Short waits: a Ctrl-C must be heard.
        const auto path = fmt::format("/runs/{}/wait?timeout=1", run_id);
        auto record = daemon->get(path, seconds(30));
        if (!record) {
            TRY(daemon->again());
            record = TRY(daemon->get(path, seconds(30)));
        }
        if (has_ended(*record)) {
            events.finish();
            return std::move(*record);
        }
        if (!interrupts.happened() || cancelled) continue;
        cancelled = true;
        context.note("canceling the build");
        TRY(daemon->send("POST",
                         "/runs/" + run_id + "/cancel",
                         Json(JsonObject{{"grace_seconds", 0}}),
                         Daemon::Repeat::when_broken));
    }
}

Outcome follow_run(Context& context, const std::string& run_id, TerminalInput* input)
{
    Daemon* daemon = TRY(context.daemon());
    const auto asked = context.asked_format();
    const bool as_document = (asked && *asked != output::Format::table) || context.has_query();
    Interrupts interrupts;
    if (input != nullptr) input->start();
    EventPrinter events(context, daemon->beside(), run_id);
    const auto started = daemon->get("/runs/" + run_id);
    LogWriter writer(
        as_document ? STDERR_FILENO : STDOUT_FILENO,
        [&] { events.make_way(); },
        started ? project_paths(TRY(context.home()), *started) : ProjectPaths());
    const auto copied =
        copy_log(*daemon, {run_id, 0, Follow::yes, LogForm::masked}, writer, interrupts.token());
    if (!copied && !interrupts.happened()) return cannot_follow(copied.error(), run_id);
    if (interrupts.happened()) return leave(context, interrupts, events, run_id);
    const auto record = wait_until_ended(*daemon, run_id, interrupts.token());
    if (!record && interrupts.happened()) return leave(context, interrupts, events, run_id);
    if (!record) return cannot_follow(record.error(), run_id);
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

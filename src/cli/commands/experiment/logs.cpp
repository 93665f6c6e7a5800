// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/follow.hpp"
#include "cli/runs/gpu_view.hpp"
#include "cli/runs/log_stream.hpp"
#include "cli/terminal/interrupt.hpp"
#include "model/run_words.hpp"

#include <unistd.h>

namespace ponk::cli {
namespace experiment_logs_command {

constexpr Option options[] = {
    common::run_option,
    common::ignored_target,
    {.name = "follow", .brief = "f", .help = "Continue until the run has ended."},
    {.name = "tail", .brief = "n", .value = "N", .help = "Only the last N lines."},
    {.name = "raw", .help = "Also show the values of secrets."},
};
constexpr Positional positionals[] = {common::run};
constexpr std::string_view aliases[] = {"logs"};
constexpr Example examples[] = {
    {"ponk logs last", "Show the output of the newest run."},
    {"ponk logs -f 4f1e", "Follow a run. Ctrl-C stops following, not the run."},
    {"ponk logs -f --tail 20 last", "Show the last 20 lines, then follow."},
    {"ponk logs 4f1e > train.log", "Save the log exactly as the script wrote it."},
};

// Why there is nothing to print: a run that ended before its script began leaves no log to say so.
void explain_no_log(const Context& context, const Json& record)
{
    const auto run = record.text("run_id");
    if (record.text("target_type") == model::client_target) {
        context.note("run {} was created by a client of the tracking API: ponk has no log of it",
                     run);
        return;
    }
    if (!record["imported_utc"].is_null()) {
        context.note(
            "run {} was imported: its log is on machine '{}'", run, printable(record.text("host")));
        return;
    }
    if (record["end_time_utc"].is_null() || !record["start_time_utc"].is_null()) return;
    const auto why = record["error"].text("message");
    context.note("run {} ended before its script started: {}{}",
                 run,
                 record.text("status"),
                 why.empty() ? "" : ": " + printable(why));
}

Outcome run(Context& context, const Invocation& words)
{
    const Json record = TRY(context.run(TRY(run_name(words, "last"))));
    LogWriter writer(STDOUT_FILENO,
                     {},
                     words.has("raw") ? ProjectPaths()
                                      : project_paths(TRY(context.home()), record));
    std::optional<std::uint64_t> lines;
    if (const auto given = words.value("tail")) {
        const auto number = parse_integer(*given);
        if (!number || *number < 0)
            return fail_usage("'--tail {}' is not a number of lines", printable(*given));
        lines = static_cast<std::uint64_t>(*number);
    }
    LogRequest request{.run = record.text("run_id"),
                       .offset = 0,
                       .follow = words.has("follow") ? Follow::yes : Follow::no,
                       .form = words.has("raw") ? LogForm::raw : LogForm::masked};
    Daemon* daemon = TRY(context.daemon());
    if (lines) request.from = TRY(find_log_tail(*daemon, request.run, *lines));
    // What has ended is not left behind by Ctrl-C: it only stops the printing, as it does
    // elsewhere.
    if (request.follow == Follow::no || !record["end_time_utc"].is_null()) {
        if (TRY(copy_log(*daemon, request, writer)) == 0 && request.from == 0)
            explain_no_log(context, record);
    } else {
        // Nothing is printed for a while: that has a reason.
        if (record.text("status") == "Queued" && wants_gpus(record))
            context.note("run {} waits: {}", request.run, printable(gpu_sentence(record)));
        Interrupts interrupts;
        const auto copied = copy_log(*daemon, request, writer, interrupts.token());
        if (interrupts.happened()) {
            say_detached(context, request.run);
            return exit_code::detached;
        }
        if (TRY(copied) == 0 && request.from == 0)
            explain_no_log(context, TRY(daemon->get("/runs/" + request.run)));
    }
    // Who wants a few lines does not wait until all is read.
    if (lines) return exit_code::success;
    if (const auto damage = TRY(find_log_damage(*daemon, request.run)))
        return tl::unexpected(Failure(*damage));
    return exit_code::success;
}

}  // namespace experiment_logs_command

constinit const Command cmd_experiment_logs = {
    .path = "experiment logs",
    .aliases = experiment_logs_command::aliases,
    .summary = "Print the log of a run",
    .description =
        "Prints the log's bytes exactly, except that values of secrets appear as ***. On a "
        "terminal, paths of the run's copy of the project are shown as the project's, and control "
        "characters other than CR, BS, TAB and colours are printed in readable "
        "form. Without RUN: the newest run of the project. If the log was changed after the run's "
        "end, ponk prints what is left and exits with code 74; '--tail' does not check "
        "this.\nCtrl-C stops '--follow' and not "
        "the run; ponk then prints the commands to follow again or to cancel.",
    .options = experiment_logs_command::options,
    .positionals = experiment_logs_command::positionals,
    .examples = experiment_logs_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::any,
    .exits = "79 with a last line 'ponk: detached:' after Ctrl-C: the run continues.",
    .run = experiment_logs_command::run,
};

}  // namespace ponk::cli

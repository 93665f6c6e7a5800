// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/runs/submission.hpp"

namespace ponk::cli {
namespace experiment_cancel_command {

constexpr Option options[] = {
    common::run_option,
    common::ignored_target,
    {.name = "grace", .value = "TIME", .help = "Time between SIGTERM and SIGKILL. Default: as submitted, else 10s."},
    {.name = "wait", .help = "Wait until the run has ended."},
};
constexpr Positional positionals[] = {common::run};
constexpr std::string_view aliases[] = {"cancel"};
constexpr Example examples[] = {
    {"ponk cancel last", "Cancel the newest run of this project."},
    {"ponk cancel 4f1e --grace 60s --wait",
     "Give the run a minute to save its work, and wait for its end."},
};

Outcome run(Context& context, const Invocation& words)
{
    Json record = TRY(context.run(TRY(run_name(words))));
    const std::string id = record.text("run_id");
    JsonObject body;
    if (const auto grace = words.value("grace"))
        body.set("grace_seconds", TRY(as_usage(parse_time_span(*grace))));
    Daemon* daemon = TRY(context.daemon());
    record = TRY(daemon->send(
        "POST", "/runs/" + id + "/cancel", Json(std::move(body)), Daemon::Repeat::when_broken));
    while (words.has("wait") && record["end_time_utc"].is_null()) {
        record = TRY(daemon->get("/runs/" + id + "/wait?timeout=10"));
    }
    if (context.format() == output::Format::table && !context.has_query()) {
        return context.done(cancel_text(record));
    }
    return context.print(record);
}

}  // namespace experiment_cancel_command

constinit const Command cmd_experiment_cancel = {
    .path = "experiment cancel",
    .aliases = experiment_cancel_command::aliases,
    .summary = "Cancel a run",
    .description = "Sends SIGTERM to every process of the run, and SIGKILL to those that are left "
                   "after the grace time. If the machine cannot be reached, this happens as soon "
                   "as it can be reached again.",
    .options = experiment_cancel_command::options,
    .positionals = experiment_cancel_command::positionals,
    .examples = experiment_cancel_command::examples,
    .run = experiment_cancel_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/commands/experiment/submit_options.hpp"
#include "cli/hosts/served.hpp"
#include "cli/runs/follow.hpp"
#include "cli/runs/run_view.hpp"
#include "cli/runs/submission.hpp"

namespace ponk::cli {
namespace experiment_rerun_command {

constexpr Option options[] = {common::run_option, common::async};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk experiment rerun 4f1e",
     "Run it again with the same files, arguments and configuration."},
};

Outcome run(Context& context, const Invocation& words)
{
    const Json old = TRY(context.run(TRY(run_name(words))));
    if (const auto type = config::target_type_from(old.text("target_type"))) {
        const std::string instead = fmt::format("'ponk project restore {}' restores its files; "
                                                "then 'ponk submit -t local' runs them here.",
                                                brief_id(old));
        TRY(require_runs(*type, old.text("target"), instead));
    }
    const auto until = words.has("async") ? Until::accepted : Until::recorded;
    JsonObject body = submitter_body(until);
    body.set("run_id", RunId::make().text());
    const Json record = TRY(submit(context, "/runs/" + old.text("run_id") + "/rerun", body, until));
    if (until == Until::accepted) return print_started(context, record);
    context.note("RunId: {}", record.text("run_id"));
    return follow_run(context, record.text("run_id"));
}

}  // namespace experiment_rerun_command

constinit const Command cmd_experiment_rerun = {
    .path = "experiment rerun",
    .summary = "Repeat an earlier run exactly",
    .description = "Uses the snapshot, arguments, environment variables and configuration of the "
                   "earlier run, not the current files.",
    .options = experiment_rerun_command::options,
    .positionals = experiment_rerun_command::positionals,
    .examples = experiment_rerun_command::examples,
    .exits = "As for 'submit'.",
    .run = experiment_rerun_command::run,
};

}  // namespace ponk::cli

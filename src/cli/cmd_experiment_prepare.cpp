// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/interpreter.hpp"
#include "cli/served.hpp"
#include "cli/submit_options.hpp"
#include "config/project.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    common::run_configuration,
    common::target,
    common::conda,
    common::spark,
    {.name = "check", .help = "Only tell whether the environment is there."},
    {.name = "async", .brief = "a", .help = "Accepted as in 2017.", .shown = Option::Shown::no},
    {.name = "untracked", .brief = "u", .help = "Accepted as in 2017.", .shown = Option::Shown::no},
    {.name = "wait", .help = "Accepted as in 2017.", .shown = Option::Shown::no},
};
constexpr Example examples[] = {
    {"ponk experiment prepare -c docker", "Make the environment ahead of the first run."},
    {"ponk experiment prepare -c local --check", "Exit code 0 when a run could start at once."},
};

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const auto resolved = TRY(config::resolve(
        project, words.value("run-configuration").value_or("local"), words.text("target")));
    for (const auto& remark : resolved.diagnostics)
        context.note("{}", config::to_text(remark));
    TRY(require_served(resolved.target));
    const Interpreter python = TRY(find_interpreter(resolved.target));
    // A local target's environment is the user's own: there is nothing to make.
    return context.done(fmt::format("target '{}' is ready: {} ({}), managed by you",
                                    resolved.target.name,
                                    python.program.string(),
                                    python.version),
                        {{"ready", true},
                         {"target", resolved.target.name},
                         {"interpreter", python.program.string()},
                         {"version", python.version}});
}

}  // namespace

constinit const Command cmd_experiment_prepare = {
    .path = "experiment prepare",
    .summary = "Make the environment of a run ahead of time",
    .description = "Runs prepare what they need by themselves; this does it early. The environment "
                   "of a local target is yours: it is looked at and started once, not changed.",
    .options = options,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/id.hpp"
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/experiment/submit_options.hpp"
#include "cli/hosts/served.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/projects/consent.hpp"
#include "cli/runs/follow.hpp"
#include "cli/runs/submission.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace {

constexpr std::string_view rights[] = {"promote"};
constexpr Option options[] = {
    common::run_configuration,
    common::target,
    common::conda,
    common::spark,
    common::substitute,
    common::async,
    {.name = "untracked", .brief = "u", .help = "Keep the run out of history lists."},
    {.name = "wait", .help = "Also wait for outputs to be collected (always so when following)."},
    {.name = "name", .value = "TEXT", .help = "A name for the run."},
    {.name = "tag",
     .value = "KEY=VALUE",
     .help = "Tag of the run. May be repeated.",
     .times = Option::Times::many},
    {.name = "env",
     .value = "KEY=VALUE",
     .help = "Variable for the script; VALUE may be 'secret:NAME'. May be repeated.",
     .times = Option::Times::many},
    {.name = "allow",
     .value = "RIGHT",
     .help = "promote: the script may move aliases and stages of registered models, and delete "
             "versions of others. No file of a project can grant it. Default: it may log and "
             "register.",
     .times = Option::Times::many,
     .complete = Complete::choice,
     .choices = rights},
    {.name = "time-limit",
     .value = "TIME",
     .help = "End the run after so long: 90s, 30m, 12h, 7d."},
    {.name = "gpus",
     .value = "N|all|none|IDS",
     .help = "GPUs to take: how many, all, none, or which (indexes or the beginnings of their "
             "UUIDs, with commas). Default: as the files say, else all of the machine, one where "
             "its target says 'shared: true'."},
    {.name = "tensorboard",
     .value = "DIR",
     .help = "Folder of the project in which the script writes TensorBoard event files; their "
             "numbers become metrics while it runs. Those in 'outputs' do so in any case.",
     .complete = Complete::file},
    {.name = "no-wait", .help = "Fail when the GPUs are busy, instead of waiting for a turn."},
    {.name = "nodes", .value = "N", .help = "Machines to use.", .shown = Option::Shown::no},
};
constexpr Positional positionals[] = {
    {.name = "SCRIPT",
     .help = "Script below the project's folder. Left out: ArgumentVector decides.",
     .count = Positional::Count::optional,
     .complete = Complete::file},
};
constexpr std::string_view aliases[] = {"submit"};
constexpr Example examples[] = {
    {"ponk submit train.py --epochs 3", "Run train.py here, with its argument '--epochs 3'."},
    {"ponk experiment submit -c docker train.py", "Use aml_config/docker.runconfig."},
    {"id=$(ponk submit --async train.py)", "Start it and keep its id."},
    {"ponk submit -o json train.py > run.json", "The log on stderr, the final record on stdout."},
    {"ponk submit --env API_KEY=secret:kaggle train.py", "Hand a stored secret to the script."},
};

std::string word_or_empty(const Invocation& words)
{
    return words.word(0).value_or("");
}

// What is wrong with the configuration is the daemon's to say; here only whether it can be served,
// and what the user must be asked about first.
Outcome check_target(Context& context, const os::Path& folder, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(folder));
    const auto resolved = config::resolve(
        project, words.value("run-configuration").value_or("local"), words.text("target"));
    if (!resolved) return exit_code::success;
    TRY(require_runs(resolved->target.type.value, resolved->target.name));
    TRY(ensure_attached(context, resolved->target));
    TRY(ask_for_consents(context, folder, *resolved));
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    if (words.has("wait") && words.has("async")) {
        return fail_usage("give '--wait' or '--async', not both");
    }
    if (words.has("nodes")) {
        return tl::unexpected(Failure(Error(ErrorKind::invalid_argument,
                                            "'--nodes' is not built into this version",
                                            "Leave it out: a run uses one machine."),
                                      exit_code::not_built));
    }
    const os::Path project = TRY(context.project());
    TRY(check_target(context, project, words));
    context.point_to_enclosing_project();
    const RunId id = RunId::make();
    const auto until = words.has("async") ? Until::accepted : Until::recorded;
    JsonObject body = TRY(submission_basics(id, until));
    body.set("project", project.string());
    if (words.word(0)) body.set("script", TRY(script_in_project(project, word_or_empty(words))));
    JsonArray arguments(words.rest().begin(), words.rest().end());
    body.set("arguments", std::move(arguments));
    body.set("run_configuration", words.value("run-configuration").value_or("local"));
    for (const auto& [option, field] : {std::pair{"target", "target"},
                                        std::pair{"conda-dependencies", "conda_dependencies"},
                                        std::pair{"spark-dependencies", "spark_dependencies"},
                                        std::pair{"tensorboard", "tensorboard"},
                                        std::pair{"name", "name"}}) {
        const auto value = words.value(option);
        body.set(field, value ? Json(*value) : Json());
    }
    body.set("tags", TRY(as_usage(key_values(words.values("tag"), "--tag"))));
    body.set("variables", TRY(as_usage(key_values(words.values("env"), "--env"))));
    const auto allowed = words.values("allow");
    if (!allowed.empty()) body.set("allow", JsonArray(allowed.begin(), allowed.end()));
    body.set("tracked", !words.has("untracked"));
    body.set("wait", words.has("wait"));
    body.set("substitute", words.has("substitute"));
    body.set("no_wait", words.has("no-wait"));
    if (const auto gpus = words.value("gpus")) body.set("gpus", *gpus);
    body.set("time_limit_seconds", Json());
    if (const auto limit = words.value("time-limit")) {
        body.set("time_limit_seconds", TRY(as_usage(parse_time_span(*limit))));
    }
    const Json record = TRY(submit(context, "/runs", body, until));
    if (until == Until::accepted) return print_started(context, record);
    context.note("RunId: {}", record.text("run_id"));
    return follow_run(context, record.text("run_id"));
}

}  // namespace

constinit const Command cmd_experiment_submit = {
    .path = "experiment submit",
    .aliases = aliases,
    .summary = "Run a script on a compute target",
    .description =
        "Takes a snapshot of the project, runs the script in a copy of it, streams its output and "
        "collects its 'outputs' folder. The run goes on whatever happens to this command: Ctrl-C "
        "detaches and says how to re-attach or cancel, a second Ctrl-C within two seconds "
        "cancels.\n"
        "Options of ponk stand before SCRIPT. SCRIPT and all words after it are the script's own, "
        "untouched, whatever they look like.\n"
        "Standard output carries the bytes of the script's output and nothing else; ponk's own "
        "lines are on standard error.\n"
        "The folder that outlives runs, AZUREML_NATIVE_SHARE_DIRECTORY of the script, is below "
        "~/.azureml/share as in 2017, unless nativeSharedDirectory of the target says otherwise.",
    .options = options,
    .positionals = positionals,
    .rest = Command::Rest::untouched,
    .examples = examples,
    .exits =
        "The script's own exit code, 128+n when signal n ended it. A last line 'ponk: error:' "
        "tells that the code is one of ponk's: 72 no exit code, time limit reached or a failure "
        "after the script's end, 76 lost, 77 cancelled. 79 with a last line 'ponk: detached:': "
        "Ctrl-C, the run goes on.",
    .run = run,
};

}  // namespace ponk::cli

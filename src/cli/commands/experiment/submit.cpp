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
#include "cli/terminal/ask.hpp"
#include "cli/terminal/terminal_input.hpp"
#include "config/project/mlproject_use.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace experiment_submit_command {

constexpr std::string_view rights[] = {"promote"};
constexpr Option options[] = {
    common::run_configuration,
    common::target,
    common::conda,
    {.name = "python",
     .value = "PROGRAM",
     .help = "Run the script with this Python and the packages that it has; nothing is installed.",
     .complete = Complete::file},
    common::spark,
    common::substitute,
    common::async,
    {.name = "untracked", .brief = "u", .help = "Do not show the run in history lists."},
    {.name = "wait",
     .help = "Also wait until the outputs are collected (always done when following the run)."},
    {.name = "name", .value = "TEXT", .help = "A name for the run."},
    {.name = "tag",
     .value = "KEY=VALUE",
     .help = "Set a tag of the run. May be repeated.",
     .times = Option::Times::many},
    {.name = "env",
     .value = "KEY=VALUE",
     .help =
         "Set an environment variable of the script. VALUE may be 'secret:NAME'. May be repeated.",
     .times = Option::Times::many},
    {.name = "allow",
     .value = "RIGHT",
     .help = "promote: the script may move aliases and stages of registered models, and delete "
             "model versions of other runs. Files of a project cannot grant this. Default: the "
             "script may log and register.",
     .times = Option::Times::many,
     .complete = Complete::choice,
     .choices = rights},
    {.name = "time-limit",
     .value = "TIME",
     .help = "End the run after this time: 90s, 30m, 12h, 7d."},
    {.name = "grace",
     .value = "TIME",
     .help = "Time between SIGTERM and SIGKILL when the run reaches its time limit or is canceled, "
             "for scripts that save their work. Default: 10s."},
    {.name = "gpus",
     .value = "N|all|none|IDS",
     .help = "GPUs to use: a number, all, none, or a comma-separated list of indexes or beginnings "
             "of UUIDs. Default: from the configuration files, else all GPUs of the machine, or "
             "one if the target has 'shared: true'."},
    {.name = "tensorboard",
     .value = "DIR",
     .help =
         "Folder of the project in which the script writes TensorBoard event files. Their values "
         "become metrics while the script runs. Event files in 'outputs' are always read.",
     .complete = Complete::file},
    {.name = "module",
     .brief = "m",
     .value = "MODULE",
     .help = "Run a Python module, as 'python -m' does; all words behind it are its arguments.",
     .then = Option::Then::arguments},
    {.name = "entry-point",
     .brief = "e",
     .value = "NAME",
     .help =
         "Run this entry point of the project's MLproject file, or a script in its environment, "
         "as 'mlflow run' does. If neither this nor SCRIPT is given: 'main'."},
    {.name = "param-list",
     .brief = "P",
     .value = "NAME=VALUE",
     .help = "A parameter of the entry point; of a script: the argument '--NAME VALUE'. It is "
             "recorded as a parameter of the run. May be repeated.",
     .times = Option::Times::many},
    {.name = "input",
     .value = "PATH",
     .help = "Give the run this folder or file of the project although it does not travel: as a "
             "link, or in a container as a mount that cannot be written. To another machine it is "
             "sent once. PLACE=PATH gives it data "
             "from elsewhere, at PLACE in its copy of the project. May be repeated.",
     .times = Option::Times::many,
     .complete = Complete::file},
    {.name = "interactive",
     .brief = "i",
     .help = "Connect this terminal to the script's standard input, for input() and breakpoint(). "
             "Ctrl-D ends the input. For scripts on this machine, also in containers."},
    {.name = "input-digest",
     .help = "Also record a digest of the inputs' contents, which reads all of them."},
    {.name = "no-wait", .help = "Fail if the GPUs are busy, instead of waiting for them."},
    {.name = "nodes", .value = "N", .help = "Number of machines.", .shown = Option::Shown::no},
};
constexpr Positional positionals[] = {
    {.name = "SCRIPT",
     .help = "Script in the project's folder: Python, a notebook (.ipynb), a shell script, or any "
             "file whose first line names its interpreter. If omitted: the configuration's "
             "ArgumentVector. '-- COMMAND…' "
             "runs a command instead.",
     .count = Positional::Count::optional,
     .complete = Complete::file},
};
constexpr std::string_view aliases[] = {"submit"};
constexpr std::string_view old_paths[] = {"experiment start"};
constexpr Example examples[] = {
    {"ponk submit train.py --epochs 3",
     "Run train.py on this machine with the arguments '--epochs 3'."},
    {"ponk experiment submit -c docker train.py", "Use aml_config/docker.runconfig."},
    {"id=$(ponk submit --async train.py)", "Start the run and store its id."},
    {"ponk submit -o json train.py > run.json",
     "Print the log on stderr and the final record on stdout."},
    {"ponk submit -m my_package.train --epochs 3", "Run a module of the project."},
    {"ponk submit explore.ipynb", "Run a notebook; the executed copy is outputs/explore.ipynb."},
    {"ponk submit -- torchrun --nproc-per-node 2 train.py",
     "Run any command in a copy of the project."},
    {"ponk submit -e train -P alpha=0.5", "Run the entry point 'train' of the MLproject file."},
    {"ponk submit --input data train.py", "Let the script read data/, which .gitignore lists."},
    {"ponk submit --env API_KEY=secret:kaggle train.py", "Pass a stored secret to the script."},
};

// What is wrong with the configuration is the daemon's to say; here only whether it can be served,
// and what the user must be asked about first.
Outcome check_target(Context& context, const os::Path& folder, const model::RunRequest& request)
{
    const config::Project project = TRY(config::open_project(folder));
    auto resolved = config::resolve(project, request.run_configuration, request.target);
    if (!resolved || !config::use_mlproject(project, request, *resolved)) return exit_code::success;
    TRY(require_runs(resolved->target.type.value, resolved->target.name));
    TRY(ensure_attached(context, resolved->target));
    TRY(ask_for_consents(context, folder, *resolved));
    return exit_code::success;
}

// What the words name: a module, a script, or behind "--" a command.
Result<> name_program(model::RunRequest& request, const os::Path& project, const Invocation& words)
{
    request.module = words.text("module");
    request.entry_point = words.text("entry-point");
    request.arguments = words.rest();
    if (words.has("module") || !words.word(0)) return {};
    const std::string word = *words.word(0);
    std::error_code problem;
    const bool is_script = !os::Path(word).extension().empty() &&
                           (std::filesystem::is_regular_file(project / word, problem) ||
                            std::filesystem::is_regular_file(word, problem));
    if (words.after_dashes() && !is_script) {
        request.command = {word};
        request.command.insert(request.command.end(), words.rest().begin(), words.rest().end());
        request.arguments.clear();
        return {};
    }
    request.script = TRY(script_in_project(project, word));
    return {};
}

Outcome run(Context& context, const Invocation& words)
{
    if (words.has("wait") && words.has("async")) {
        return fail_usage("give '--wait' or '--async', not both");
    }
    if (words.has("nodes")) {
        return tl::unexpected(Failure(Error(ErrorKind::invalid_argument,
                                            "'--nodes' is not supported by this version",
                                            "Omit it: a run uses one machine."),
                                      exit_code::not_built));
    }
    if (words.has("entry-point") && (words.has("module") || words.word(0)))
        return fail_usage("'--entry-point' takes the place of a script; give parameters with "
                          "'-P NAME=VALUE'");
    const bool interactive = words.has("interactive");
    if (interactive && words.has("async")) {
        return fail_usage("'--interactive' needs this command to stay: omit '--async'");
    }
    if (interactive && !has_terminal()) {
        return fail_usage("'--interactive' needs a terminal, and standard input is none; pass "
                          "values as arguments, or with '--env NAME=VALUE'");
    }
    const os::Path project = TRY(context.project());
    const auto until = words.has("async") ? Until::accepted : Until::recorded;
    auto request = basic_request(project, words);
    request.python = words.text("python");
    request.folder = TRY(context.folder_in_project());
    TRY(name_program(request, project, words));
    request.parameters = TRY(as_usage(key_values(words.values("param-list"), "-P")));
    if (!request.parameters.empty() && (!request.module.empty() || !request.command.empty()))
        return fail_usage("'-P' is for entry points and scripts; write the arguments behind the "
                          "command");
    TRY(check_target(context, project, request));
    request.tensorboard = words.text("tensorboard");
    request.name = words.text("name");
    context.warn_of_run_name(request.name);
    request.tags = TRY(as_usage(key_values(words.values("tag"), "--tag")));
    request.variables = TRY(as_usage(key_values(words.values("env"), "--env")));
    request.allow = words.values("allow");
    request.no_wait = words.has("no-wait");
    request.gpus = words.value("gpus");
    request.inputs = TRY(absolute_inputs(project, words.values("input")));
    request.input_digest = words.has("input-digest");
    if (const auto limit = words.value("time-limit"))
        request.time_limit_seconds = TRY(as_usage(parse_time_span(*limit)));
    if (const auto grace = words.value("grace"))
        request.grace_seconds = TRY(as_usage(parse_time_span(*grace)));
    if (request.grace_seconds.value_or(0) > model::longest_grace)
        return fail_usage("the grace is one day at most");
    request.interactive = interactive;
    std::unique_ptr<TerminalInput> input;
    if (interactive)
        input = TRY(TerminalInput::make(TRY(context.home()) / "input" / request.id.text()));
    const auto body = request_body(request, until);
    const Json record = TRY(submit(context, "/runs", body, until));
    if (until == Until::accepted) return print_started(context, record);
    context.note("RunId: {}", record.text("run_id"));
    return follow_run(context, record.text("run_id"), input.get());
}

}  // namespace experiment_submit_command

constinit const Command cmd_experiment_submit = {
    .path = "experiment submit",
    .aliases = experiment_submit_command::aliases,
    .old_paths = experiment_submit_command::old_paths,
    .summary = "Run a script on a compute target",
    .description =
        "Takes a snapshot of the project, runs the script in a copy of it, streams its output and "
        "collects its 'outputs' folder. The run does not depend on this command: Ctrl-C detaches "
        "and prints the commands to follow the run again or to cancel it; a second Ctrl-C within "
        "two seconds cancels the run.\nPut options of ponk before SCRIPT. All arguments after "
        "SCRIPT are passed to the script unchanged, even those that look like options.\nStandard "
        "output contains only the script's output; messages of ponk go to standard error.\nThe "
        "folder shared by the project's runs (AZUREML_NATIVE_SHARE_DIRECTORY in the script) is in "
        "~/.azureml/share, unless the target sets nativeSharedDirectory.",
    .options = experiment_submit_command::options,
    .positionals = experiment_submit_command::positionals,
    .rest = Command::Rest::untouched,
    .examples = experiment_submit_command::examples,
    .exits = "The exit code of the script, or 128+n if signal n ended it. If the last line starts "
             "with 'ponk: error:', the code is from ponk: 72 no exit code, time limit reached, or "
             "a failure after the script's end; 76 lost; 77 canceled. 79 with a last line 'ponk: "
             "detached:' after Ctrl-C: the run continues.",
    .run = experiment_submit_command::run,
};

}  // namespace ponk::cli

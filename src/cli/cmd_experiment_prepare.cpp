// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
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

// The conda file that a reader may think is installed by this command.
std::string unused_conda_file(const config::Project& project,
                              const config::RunConfiguration& run,
                              const Invocation& words)
{
    const std::string file =
        words.value("conda-dependencies").value_or(*run.conda_dependencies_file);
    std::error_code problem;
    return !file.empty() && std::filesystem::is_regular_file(project.root / file, problem) ? file
                                                                                           : "";
}

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const auto resolved = TRY(config::resolve(
        project, words.value("run-configuration").value_or("local"), words.text("target")));
    for (const auto& remark : resolved.diagnostics)
        context.note("{}", config::to_text(remark));
    TRY(require_served(resolved.target));
    const Interpreter python = TRY(find_interpreter(resolved.target));
    if (const std::string file = unused_conda_file(project, resolved.run, words); !file.empty()) {
        context.note("'{}' is not installed: a local target runs with the packages that are there",
                     printable(file));
    }
    return context.done(
        fmt::format(
            "target '{}' is ready: {} ({}) starts; nothing was made, because the packages of "
            "a local target are yours to install",
            resolved.target.name,
            python.program.string(),
            python.version),
        {{"ready", true},
         {"made", JsonArray{}},
         {"target", resolved.target.name},
         {"interpreter", python.program.string()},
         {"version", python.version}});
}

}  // namespace

constinit const Command cmd_experiment_prepare = {
    .path = "experiment prepare",
    .summary = "Make the environment of a run ahead of time",
    .description =
        "Runs prepare what they need by themselves; this does it early. On a local target "
        "the Python is yours: it is looked for and started once, nothing is installed, and "
        "conda and Spark files are left alone. Targets of other types are not built into "
        "this version: exit code 68, nothing done.",
    .options = options,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

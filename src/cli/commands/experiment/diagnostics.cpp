// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_view.hpp"

#include <chrono>

namespace ponk::cli {
namespace experiment_diagnostics_command {

constexpr Option options[] = {
    common::run_option,
    common::ignored_target,
    {.name = "destination",
     .brief = "d",
     .value = "FILE",
     .help = "The zip file to write. Default: ponk-RUN.zip in the current folder.",
     .complete = Complete::file},
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk experiment diagnostics last", "Write a file to attach to a bug report."},
};

Outcome run(Context& context, const Invocation& words)
{
    const Json record = TRY(context.run(TRY(run_name(words))));
    std::error_code problem;
    const os::Path file = std::filesystem::absolute(
        words.value("destination").value_or("ponk-" + brief_id(record) + ".zip"), problem);
    const Json answer = TRY(TRY(context.daemon())
                                ->send("POST",
                                       "/runs/" + record.text("run_id") + "/diagnostics",
                                       JsonObject{{"destination", file.string()}},
                                       Daemon::Repeat::never,
                                       std::chrono::minutes(10)));
    if (answer["problems"].is_array()) {
        for (const Json& one : answer["problems"].as_array()) {
            if (one.is_string()) context.note("{}", printable(one.as_string()));
        }
    }
    return context.done(fmt::format("written: {}", answer.text("path")),
                        {{"path", answer.text("path")}, {"problems", answer["problems"]}});
}

}  // namespace experiment_diagnostics_command

constinit const Command cmd_experiment_diagnostics = {
    .path = "experiment diagnostics",
    .summary = "Collect everything known about a run in a zip file",
    .description =
        "Contains the run's record, log, configuration and timings, without the values of secrets.",
    .options = experiment_diagnostics_command::options,
    .positionals = experiment_diagnostics_command::positionals,
    .examples = experiment_diagnostics_command::examples,
    .run = experiment_diagnostics_command::run,
};

}  // namespace ponk::cli

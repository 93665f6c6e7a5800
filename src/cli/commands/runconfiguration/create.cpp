// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/named.hpp"
#include "config/project/project.hpp"
#include "config/project/write.hpp"

#include <algorithm>

namespace ponk::cli {
namespace runconfiguration_create_command {

constexpr std::string_view frameworks[] = {"Python", "PySpark"};
constexpr Option options[] = {
    named::configuration_option,
    {.name = "target",
     .brief = "t",
     .value = "TARGET",
     .help = "Compute target. Default: local.",
     .complete = Complete::target},
    {.name = "framework",
     .value = "WORD",
     .help = "Python (default) or PySpark.",
     .complete = Complete::choice,
     .choices = frameworks},
};
constexpr Positional positionals[] = {
    {.name = "NAME",
     .help = "Name of the new configuration.",
     .count = Positional::Count::optional},
};
constexpr Example examples[] = {
    {"ponk runconfig create -n nightly -t local", "Write aml_config/nightly.runconfig."},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = TRY(named::name_of(words));
    TRY(as_usage(config::check_name("run configuration", name)));
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const std::string target = words.value("target").value_or("local");
    if (std::ranges::find(project.targets, target) == project.targets.end()) {
        const auto near = nearest(target, project.targets);
        return tl::unexpected(Failure(Error(
            ErrorKind::not_found,
            fmt::format("no target '{}' in {}", printable(target), os::in_quotes(project.root)),
            near ? fmt::format("Did you mean '{}'?", *near)
                 : fmt::format("Existing targets: {}.", join(project.targets, ", ")))));
    }
    config::RunConfiguration configuration = config::built_in_run_configuration();
    configuration.name = name;
    configuration.target = target;
    if (words.text("framework") == "PySpark") configuration.framework = config::Framework::pyspark;
    TRY(os::make_directories(project.config_folder(), 0755));
    const os::Path file = TRY(config::write_runconfig_file(project.root, configuration));
    return context.done(fmt::format("run configuration '{}' is created: {}", name, file.string()),
                        {{"name", name}, {"target", target}, {"file", file.string()}});
}

}  // namespace runconfiguration_create_command

constinit const Command cmd_runconfiguration_create = {
    .path = "runconfiguration create",
    .summary = "Create a run configuration",
    .options = runconfiguration_create_command::options,
    .positionals = runconfiguration_create_command::positionals,
    .examples = runconfiguration_create_command::examples,
    .history = Command::History::none,
    .run = runconfiguration_create_command::run,
};

}  // namespace ponk::cli

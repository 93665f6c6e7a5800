// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "config/schema/json_schema.hpp"

namespace ponk::cli {
namespace project_schema_command {

// As config::json_schema_kinds(), which is not constant data.
constexpr std::string_view kinds[] = {
    "runconfig", "compute", "conda", "spark", "project", "mlproject"};
constexpr Positional positionals[] = {
    {.name = "KIND",
     .help = "runconfig, compute, conda (conda_dependencies.yml), spark (spark_dependencies.yml), "
             "project (project.json) or mlproject.",
     .complete = Complete::choice,
     .choices = kinds},
};
constexpr Example examples[] = {
    {"ponk project schema runconfig > .vscode/runconfig.json",
     "Store the schema of run configurations for an editor."},
    {"ponk project schema compute --query 'keys(properties)'", "List the keys of .compute files."},
};

Outcome run(Context& context, const Invocation& words)
{
    const auto schema = config::find_json_schema(*words.word(0));
    if (!schema)
        return fail_usage("'KIND' must be runconfig, compute, conda, spark, project or mlproject");
    if (context.asked_format() || context.has_query()) return context.print(*schema);
    TRY(Context::print_text(to_json(*schema, JsonStyle::pretty) + "\n"));
    return exit_code::success;
}

}  // namespace project_schema_command

constinit const Command cmd_project_schema = {
    .path = "project schema",
    .summary = "Print the keys of a configuration file as JSON Schema",
    .description = "For editors: with the schema they complete keys, show what each key does, and "
                   "mark wrong values. Does not need the daemon or a project.",
    .positionals = project_schema_command::positionals,
    .examples = project_schema_command::examples,
    .history = Command::History::none,
    .run = project_schema_command::run,
};

}  // namespace ponk::cli

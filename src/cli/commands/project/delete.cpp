// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/commands/project/ignored_options.hpp"
#include "cli/projects/find_project.hpp"
#include "cli/terminal/ask.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace project_delete_command {

constexpr Option options[] = {
    {.name = "name",
     .brief = "n",
     .value = "NAME",
     .help = "Same as PROJECT.",
     .complete = Complete::project},
    common::yes,
    ignored::workspace,
    ignored::account,
    ignored::resource_group,
    ignored::location,
};
constexpr Positional positionals[] = {
    {.name = "PROJECT",
     .help = "Name, id or folder of the project. Default: the current folder.",
     .count = Positional::Count::optional,
     .complete = Complete::project},
};
constexpr Example examples[] = {
    {"ponk project delete mnist", "Delete all its runs; the folder is kept."},
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string wanted =
        words.word(0).value_or(words.value("name").value_or(TRY(context.project()).string()));
    const Json project = TRY(find_project(context, wanted));
    ignored::note(context, words);
    if (!words.has("yes")) {
        TRY(confirm(fmt::format("Delete the {} runs of project '{}' ({})? The folder is kept.",
                                project.integer("runs"),
                                project.text("name"),
                                project.text("path"))));
    }
    TRY(TRY(context.daemon())
            ->send("DELETE", "/projects/" + net::percent_encode(project.text("id"))));
    return context.done(fmt::format("the runs of project '{}' are deleted; its folder is kept",
                                    project.text("name")),
                        {{"deleted", project.text("id")}});
}

}  // namespace project_delete_command

constinit const Command cmd_project_delete = {
    .path = "project delete",
    .summary = "Delete a project's history, never its folder",
    .options = project_delete_command::options,
    .positionals = project_delete_command::positionals,
    .examples = project_delete_command::examples,
    .run = project_delete_command::run,
};

}  // namespace ponk::cli

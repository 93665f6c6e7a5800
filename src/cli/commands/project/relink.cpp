// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/projects/find_project.hpp"
#include "net/target.hpp"

namespace ponk::cli {
namespace project_relink_command {

constexpr Positional positionals[] = {
    {.name = "PROJECT",
     .help = "Name, id or earlier folder of the project whose history continues here.",
     .complete = Complete::project},
};
constexpr Example examples[] = {
    {"ponk project relink /old/place/mnist", "The project was moved to the current folder."},
    {"ponk project relink 5c1d -p ~/projects/mnist",
     "The project with this id is in ~/projects/mnist now."},
};

Outcome run(Context& context, const Invocation& words)
{
    const auto folder = TRY(context.project());
    const Json project = TRY(find_project(context, words.word(0).value_or("")));
    TRY(TRY(context.daemon())
            ->send("POST",
                   "/projects/" + net::percent_encode(project.text("id")) + "/relink",
                   JsonObject{{"path", folder.native()}}));
    return context.done(fmt::format("the {} runs of project '{}' belong to {} now",
                                    project.integer("runs"),
                                    project.text("name"),
                                    os::in_quotes(folder)),
                        {{"id", project.text("id")}, {"path", folder.native()}});
}

}  // namespace project_relink_command

constinit const Command cmd_project_relink = {
    .path = "project relink",
    .summary = "Continue a project's history in another folder",
    .description =
        "A project that was moved or renamed is recognized by itself. If it was copied and the "
        "original deleted, or restored from a backup, this command says which one it is. Nothing "
        "is written into the folder.",
    .positionals = project_relink_command::positionals,
    .examples = project_relink_command::examples,
    .run = project_relink_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/client/own_umask.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/project/ignored_options.hpp"
#include "cli/projects/project_files.hpp"
#include "cli/projects/samples.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace ponk::cli {
namespace project_create_command {

constexpr Option options[] = {
    {.name = "name", .brief = "n", .value = "NAME", .help = "Name of the project and its folder."},
    {.name = "path",
     .value = "FOLDER",
     .help = "Folder in which to create the project. Default: the current folder.",
     .complete = Complete::folder},
    {.name = "sample",
     .brief = "s",
     .value = "NAME",
     .help = "Start from a sample; see 'ponk project sample list'.",
     .complete = Complete::sample},
    {.name = "from",
     .brief = "u",
     .value = "URL|FOLDER",
     .help = "Start from a git repository or from a copy of a folder.",
     .complete = Complete::folder},
    {.name = "template-url", .value = "URL", .help = "Same as --from.", .shown = Option::Shown::no},
    {.name = "template", .value = "NAME", .help = "Same as --sample.", .shown = Option::Shown::no},
    ignored::workspace,
    ignored::account,
    ignored::resource_group,
    ignored::location,
};
constexpr Positional positionals[] = {
    {.name = "NAME",
     .help = "Name of the project and its folder.",
     .count = Positional::Count::optional},
};
constexpr Example examples[] = {
    {"ponk project create mydigits --sample mnist", "Create it from a sample."},
    {"ponk project create -n iris --from https://example.org/iris.git",
     "Create it from a git repository."},
    {"ponk project create empty", "Create an empty project."},
};

Result<> check_project_name(const std::string& name)
{
    const bool bad = name.empty() || name.size() > 100 || name[0] == '.' || name[0] == '-' ||
                     name.find('/') != name.npos || printable(name) != name;
    if (!bad) return {};
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'{}' is not a valid project name", printable(name)),
              "Use up to 100 characters, none of them '/', not starting with '.' or '-'."));
}

Result<> fill(const Context& context,
              const os::Path& folder,
              const std::string& sample,
              const std::string& source)
{
    if (!sample.empty()) {
        const Gallery gallery = TRY(Gallery::open(context.entry().samples));
        const Sample found = TRY(gallery.find(sample));
        if (!found.substitution.empty()) context.note("{}: {}", found.name, found.substitution);
        return gallery.copy(found, folder);
    }
    if (source.empty()) return {};
    if (is_repository_url(source)) return clone_repository(source, folder);
    std::error_code problem;
    const os::Path from = std::filesystem::canonical(source, problem);
    if (problem) return fail_errno(problem.value(), "folder {}", os::in_quotes(source));
    if (std::filesystem::exists(from / ".git", problem))
        return clone_repository(from.string(), folder);
    return copy_project(from, folder, {"outputs", "azureml-logs", "azureml-setup"});
}

// Made under another name and renamed when complete: a half-made project is never left behind.
Result<> make_project(const Context& context,
                      const os::Path& folder,
                      const std::string& name,
                      const std::string& sample,
                      const std::string& source)
{
    TRY(os::make_directories(folder.parent_path(), 0755));
    const os::Path draft = TRY(os::make_temporary_directory(folder.parent_path(), ".ponk-new-"));
    const auto made = [&]() -> Result<> {
        TRY(fill(context, draft, sample, source));
        TRY(complete_project(draft, name));
        // The umask decides, as it does for mkdir.
        ::chmod(draft.c_str(), 0777 & ~static_cast<mode_t>(own_umask()));
        if (::rename(draft.c_str(), folder.c_str()) != 0) {
            return fail_errno(errno, "rename to {}", os::in_quotes(folder));
        }
        return {};
    }();
    if (!made) TRY(os::remove_tree(draft));
    return made;
}

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = words.word(0).value_or(words.text("name"));
    if (name.empty()) return fail_usage("'project create' needs a name");
    if (words.word(0) && words.has("name") && words.text("name") != name) {
        return fail_usage("two names are given: '{}' and '{}'", name, words.text("name"));
    }
    TRY(as_usage(check_project_name(name)));
    const std::string sample = words.value("sample").value_or(words.text("template"));
    const std::string source = words.value("from").value_or(words.text("template-url"));
    if (!sample.empty() && !source.empty())
        return fail_usage("give '--sample' or '--from', not both");
    std::error_code problem;
    const os::Path folder =
        (std::filesystem::absolute(words.value("path").value_or("."), problem) / name)
            .lexically_normal();
    if (std::filesystem::exists(std::filesystem::symlink_status(folder, problem))) {
        return tl::unexpected(Failure(
            Error(ErrorKind::conflict,
                  fmt::format("{} already exists", os::in_quotes(folder)),
                  "Any folder is a project: 'ponk submit' works in it without this command.")));
    }
    ignored::note(context, words);
    TRY(make_project(context, folder, name, sample, source));
    return context.done(
        fmt::format("project '{}' is created: cd {}", name, shell_word(folder.string())),
        {{"name", name}, {"path", folder.string()}});
}

}  // namespace project_create_command

constinit const Command cmd_project_create = {
    .path = "project create",
    .summary = "Create a project: empty, or from a sample, git repository or folder",
    .description = "A project is a folder; any folder with a script works without this command.",
    .options = project_create_command::options,
    .positionals = project_create_command::positionals,
    .examples = project_create_command::examples,
    .history = Command::History::none,
    .run = project_create_command::run,
};

}  // namespace ponk::cli

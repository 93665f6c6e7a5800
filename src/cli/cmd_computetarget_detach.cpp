// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/named.hpp"
#include "cli/suggest.hpp"
#include "config/project.hpp"
#include "config/write.hpp"

#include <cerrno>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr Option options[] = {named::target_option};
constexpr Positional positionals[] = {named::target};

Failure absent(const os::Path& folder, const std::string& name)
{
    if (name == "local") {
        return Failure(Error(ErrorKind::conflict,
                             "target 'local' is built in and cannot be detached",
                             "An aml_config/local.compute of your own would replace it."));
    }
    const auto project = config::open_project(folder);
    return Failure(Error(ErrorKind::not_found,
                         fmt::format("there is no target '{}'", name),
                         suggest_name(name,
                                      project ? project->targets : std::vector<std::string>{},
                                      "'ponk computetarget list' lists the targets.")));
}

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = TRY(named::name_of(words));
    TRY(as_usage(config::check_name("target", name)));
    const os::Path folder = TRY(context.project()) / "aml_config";
    const os::Path compute = folder / (name + ".compute");
    if (::unlink(compute.c_str()) != 0) {
        if (errno == ENOENT) return tl::unexpected(absent(folder.parent_path(), name));
        return tl::unexpected(Failure(
            system_error(errno, fmt::format("target '{}': remove {}", name, os::in_quotes(compute)))
                .with_hint("'ponk computetarget list' lists the targets.")));
    }
    std::error_code problem;
    const bool left = std::filesystem::exists(folder / (name + ".runconfig"), problem);
    if (left) {
        context.note(
            "'{}.runconfig' stays, as it always did; 'ponk runconfig delete {}' removes it",
            name,
            name);
    }
    return context.done(fmt::format("target '{}' is detached", name),
                        {{"detached", name}, {"runconfig_left", left}});
}

}  // namespace

constinit const Command cmd_computetarget_detach = {
    .path = "computetarget detach",
    .summary = "Remove a compute target from the project",
    .description = "Deletes aml_config/NAME.compute. Run configurations that name it stay.",
    .options = options,
    .positionals = positionals,
    .run = run,
};

}  // namespace ponk::cli

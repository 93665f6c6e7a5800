// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/commands/named.hpp"
#include "cli/syntax/suggest.hpp"
#include "config/project/project.hpp"
#include "config/project/write.hpp"

#include <cerrno>
#include <unistd.h>

namespace ponk::cli {
namespace runconfiguration_delete_command {

constexpr Option options[] = {named::configuration_option, common::needless_yes};
constexpr Positional positionals[] = {named::configuration};

Failure absent(const os::Path& folder, const std::string& name)
{
    if (name == "local") {
        return Failure(Error(ErrorKind::conflict,
                             "run configuration 'local' is built in and cannot be deleted",
                             "To change it, write your own aml_config/local.runconfig."));
    }
    const auto project = config::open_project(folder);
    return Failure(
        Error(ErrorKind::not_found,
              fmt::format("there is no run configuration '{}'", name),
              suggest_name(name,
                           project ? project->run_configurations : std::vector<std::string>{},
                           "'ponk runconfig list' lists the configurations.")));
}

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = TRY(named::name_of(words));
    TRY(as_usage(config::check_name("run configuration", name)));
    const os::Path folder = TRY(context.project());
    TRY(config::require_own_folder(folder, "aml_config"));
    const os::Path file = folder / "aml_config" / (name + ".runconfig");
    if (::unlink(file.c_str()) != 0) {
        if (errno == ENOENT) return tl::unexpected(absent(folder, name));
        return tl::unexpected(Failure(
            system_error(
                errno, fmt::format("run configuration '{}': remove {}", name, os::in_quotes(file)))
                .with_hint("'ponk runconfig list' lists the configurations.")));
    }
    return context.done(fmt::format("run configuration '{}' is deleted", name),
                        {{"deleted", name}});
}

}  // namespace runconfiguration_delete_command

constinit const Command cmd_runconfiguration_delete = {
    .path = "runconfiguration delete",
    .summary = "Delete a run configuration",
    .options = runconfiguration_delete_command::options,
    .positionals = runconfiguration_delete_command::positionals,
    .history = Command::History::none,
    .run = runconfiguration_delete_command::run,
};

}  // namespace ponk::cli

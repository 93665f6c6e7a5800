// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/named.hpp"
#include "cli/hosts/host_detach.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/syntax/suggest.hpp"
#include "cli/terminal/ask.hpp"
#include "config/project/project.hpp"
#include "config/project/write.hpp"

#include <cerrno>
#include <optional>
#include <unistd.h>

namespace ponk::cli {
namespace computetarget_detach_command {

constexpr Option options[] = {
    named::target_option,
    {.name = "keep-key",
     .help = "Keep the key on the machine and here, so that the next 'attach' needs no password."},
    {.name = "remove-files",
     .help = "Also remove ponk's folder, containers and images on the machine. Runs there that are "
             "not collected yet are lost. If other machines use the folder, only the runs of this "
             "machine are removed."},
    {.name = "force", .help = "Detach even while runs are active there."},
    {.name = "yes", .brief = "y", .help = "Do not ask."},
};
constexpr Positional positionals[] = {named::target};
constexpr Example examples[] = {
    {"ponk computetarget detach gpu1", "Detach the target; its key is removed there and here."},
    {"ponk computetarget detach gpu1 --remove-files", "Also remove ponk's files on the machine."},
};

Failure absent(const os::Path& folder, const std::string& name)
{
    if (name == "local") {
        return Failure(Error(ErrorKind::conflict,
                             "target 'local' is built in and cannot be detached",
                             "To change it, write your own aml_config/local.compute."));
    }
    const auto project = config::open_project(folder);
    return Failure(Error(ErrorKind::not_found,
                         fmt::format("there is no target '{}'", name),
                         suggest_name(name,
                                      project ? project->targets : std::vector<std::string>{},
                                      "'ponk computetarget list' lists the targets.")));
}

DetachRequest request_of(const Invocation& words)
{
    return {.key = words.has("keep-key") ? DetachRequest::Key::keep : DetachRequest::Key::remove,
            .files = words.has("remove-files") ? DetachRequest::Files::remove
                                               : DetachRequest::Files::stay};
}

// Nothing for targets of this machine, and where nothing is known about the way to the host.
Result<std::optional<HostDetach>> prepare_detach(Context& context,
                                                 const Invocation& words,
                                                 const Result<config::ComputeTarget>& target,
                                                 const os::Path& compute)
{
    if (!target || !config::is_another_machine(*target)) return std::nullopt;
    const auto access = access_of(TRY(context.home()), *target);
    if (!access) return std::nullopt;
    auto detach =
        TRY(HostDetach::make(context, *access, *target->scratch, compute, request_of(words)));
    if (!words.has("force")) TRY(detach.require_no_runs());
    return detach;
}

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = TRY(named::name_of(words));
    TRY(as_usage(config::check_name("target", name)));
    const os::Path folder = TRY(context.project()) / "aml_config";
    TRY(config::require_own_folder(folder.parent_path(), "aml_config"));
    const os::Path compute = folder / (name + ".compute");
    std::error_code problem;
    if (!std::filesystem::exists(compute, problem))
        return tl::unexpected(absent(folder.parent_path(), name));
    // A file that cannot be read is removed all the same; nothing else is known then.
    const auto project = config::open_project(folder.parent_path());
    const auto target = project ? config::load_target(*project, name)
                                : Result<config::ComputeTarget>(tl::unexpected(project.error()));
    if (words.has("remove-files") && !words.has("yes"))
        TRY(confirm(fmt::format("Remove all files of ponk on the machine of '{}'?", name)));
    auto detach = TRY(prepare_detach(context, words, target, compute));
    if (::unlink(compute.c_str()) != 0) {
        return tl::unexpected(Failure(
            system_error(errno, fmt::format("target '{}': remove {}", name, os::in_quotes(compute)))
                .with_hint("'ponk computetarget list' lists the targets.")));
    }
    JsonObject fields{{"detached", name}};
    if (detach) {
        for (const auto& [key, value] : detach->say())
            fields.set(key, value);
    }
    const bool left = std::filesystem::exists(folder / (name + ".runconfig"), problem);
    if (left) {
        context.note("'{}.runconfig' was kept; 'ponk runconfig delete {}' deletes it", name, name);
    }
    fields.set("runconfig_left", left);
    return context.done(fmt::format("target '{}' is detached", name), std::move(fields));
}

}  // namespace computetarget_detach_command

constinit const Command cmd_computetarget_detach = {
    .path = "computetarget detach",
    .summary = "Remove a compute target from the project",
    .description = "Deletes aml_config/NAME.compute. The key that 'attach' created for the machine "
                   "is removed from its ~/.ssh/authorized_keys and deleted here, unless another "
                   "attached target uses the same machine. Refused while runs are active there, "
                   "because ponk could not follow them any more; '--force' detaches anyway. If the "
                   "machine cannot be reached, the target is still detached, and ponk lists what "
                   "is left on the machine. Run configurations that use the target are kept.",
    .options = computetarget_detach_command::options,
    .positionals = computetarget_detach_command::positionals,
    .examples = computetarget_detach_command::examples,
    .run = computetarget_detach_command::run,
};

}  // namespace ponk::cli

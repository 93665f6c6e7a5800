// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/ask.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/named.hpp"
#include "cli/suggest.hpp"
#include "cli/target_access.hpp"
#include "config/project.hpp"
#include "config/write.hpp"
#include "ssh/key_pair.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    named::target_option,
    {.name = "keep-key",
     .help = "Leave the key on the machine and here, for the next 'attach' without a password."},
    {.name = "remove-files",
     .help =
         "Remove ponk's folder on the machine, too: runs there that are not collected are lost."},
    {.name = "yes", .brief = "y", .help = "Do not ask."},
};
constexpr Positional positionals[] = {named::target};
constexpr Example examples[] = {
    {"ponk computetarget detach box", "Forget it; the key made for it is removed there and here."},
    {"ponk computetarget detach box --remove-files", "Leave nothing on it."},
};

// Only a folder that is ours goes, whatever the target's file calls scratch.
constexpr const char* remove_files_script = R"sh(
set -eu
take; folder=$value
case "$folder" in
    "~/"*) folder=$HOME/${folder#??} ;;
    /*) ;;
    *) folder=$HOME/$folder ;;
esac
[ -d "$folder" ] || exit 0
set -- "$folder"/bin/ponk-box-*
if [ ! -e "$1" ]; then echo "'$folder' is no folder of ponk" >&2; exit 4; fi
chmod -R u+w "$folder" 2>/dev/null || :
rm -rf -- "$folder"
)sh";

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

// What a box and this machine still know of each other, and how it ends.
class Farewell {
public:
    Farewell(Context& context, const Invocation& words, const config::ComputeTarget& target)
        : context_(context), words_(words), target_(target)
    {
    }

    // Never a failure: the box may be gone for good. What stays is told.
    JsonObject say(const ssh::Access& access, const os::Path& compute_file)
    {
        const ssh::BoxFolder folder(access.home, access.address);
        const auto read = folder.read_settings();
        if (words_.has("remove-files")) remove_files(access);
        if (!read || !*read) return result_;
        auto settings = **read;
        std::erase_if(settings.targets, [&](const std::string& file) {
            return file == compute_file.string() || ::access(file.c_str(), F_OK) != 0;
        });
        if (!settings.targets.empty()) {
            context_.note("the way to '{}' stays: '{}' uses it, too",
                          access.address.text(),
                          settings.targets.front());
            [[maybe_unused]] const auto written = folder.write_settings(settings);
            return result_;
        }
        if (words_.has("keep-key")) {
            context_.note("the key stays on '{}' and in {}",
                          access.address.text(),
                          os::in_quotes(folder.path()));
            [[maybe_unused]] const auto written = folder.write_settings(settings);
            return result_;
        }
        if (!settings.installed_key.empty()) remove_key(access, settings.installed_key);
        if (auto connection = ssh::Connection::make(access)) connection->close();
        const auto removed = folder.remove();
        if (!removed) context_.note("{}", removed.error().message());
        result_.set("folder_removed", removed.has_value());
        return result_;
    }

private:
    void remove_key(const ssh::Access& access, const std::string& line)
    {
        auto connection = ssh::Connection::make(access);
        const auto removed = connection ? ssh::remove_key(*connection, line, limit(), {})
                                        : Result<>(tl::unexpected(connection.error()));
        result_.set("key_removed", removed.has_value());
        if (removed) {
            context_.note("the key made for '{}' was removed there and here",
                          access.address.text());
            return;
        }
        context_.note(
            "the key stays on '{}': {}", access.address.text(), removed.error().message());
        context_.note("hint: its private half is deleted here, so it opens nothing any more; the "
                      "line in ~/.ssh/authorized_keys there ends with '{}'",
                      line.substr(line.find("ponk")));
    }

    void remove_files(const ssh::Access& access)
    {
        const std::string scratch = target_.scratch->empty() ? "~/.ponk" : *target_.scratch;
        auto connection = ssh::Connection::make(access);
        const auto output = connection
                                ? connection->run(remove_files_script, {scratch}, limit(), {})
                                : Result<os::Output>(tl::unexpected(connection.error()));
        const bool done = output && output->exit.status() == 0;
        result_.set("files_removed", done);
        if (done) return;
        context_.note("'{}' stays on '{}': {}",
                      scratch,
                      access.address.text(),
                      output ? printable(trim(output->err)) : output.error().message());
    }

    static Deadline limit() { return after(std::chrono::seconds(60)); }

    Context& context_;
    const Invocation& words_;
    const config::ComputeTarget& target_;
    JsonObject result_;
};

Outcome run(Context& context, const Invocation& words)
{
    const std::string name = TRY(named::name_of(words));
    TRY(as_usage(config::check_name("target", name)));
    const os::Path folder = TRY(context.project()) / "aml_config";
    const os::Path compute = folder / (name + ".compute");
    std::error_code problem;
    if (!std::filesystem::exists(compute, problem))
        return tl::unexpected(absent(folder.parent_path(), name));
    // A file that cannot be read is removed all the same; nothing else is known then.
    const auto project = config::open_project(folder.parent_path());
    const auto target = project ? config::load_target(*project, name)
                                : Result<config::ComputeTarget>(tl::unexpected(project.error()));
    if (words.has("remove-files") && !words.has("yes"))
        TRY(confirm(fmt::format("Remove all that ponk has on the machine of '{}'?", name)));
    if (::unlink(compute.c_str()) != 0) {
        return tl::unexpected(Failure(
            system_error(errno, fmt::format("target '{}': remove {}", name, os::in_quotes(compute)))
                .with_hint("'ponk computetarget list' lists the targets.")));
    }
    JsonObject fields{{"detached", name}};
    if (target && config::uses_ssh(*target->type)) {
        if (const auto access = access_of(TRY(context.home()), *target)) {
            for (const auto& [key, value] : Farewell(context, words, *target).say(*access, compute))
                fields.set(key, value);
        }
    }
    const bool left = std::filesystem::exists(folder / (name + ".runconfig"), problem);
    if (left) {
        context.note(
            "'{}.runconfig' stays, as it always did; 'ponk runconfig delete {}' removes it",
            name,
            name);
    }
    fields.set("runconfig_left", left);
    return context.done(fmt::format("target '{}' is detached", name), std::move(fields));
}

}  // namespace

constinit const Command cmd_computetarget_detach = {
    .path = "computetarget detach",
    .summary = "Remove a compute target from the project",
    .description =
        "Deletes aml_config/NAME.compute. The key that 'attach' made for a machine is taken out of "
        "its ~/.ssh/authorized_keys and deleted here, unless another target uses the same machine. "
        "A machine that is gone does not stop it: what stays there is told. Run configurations "
        "that name the target stay.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

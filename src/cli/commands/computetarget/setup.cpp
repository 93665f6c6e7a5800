// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/named.hpp"
#include "cli/hosts/host_setup.hpp"
#include "cli/hosts/served.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/hosts/target_facts.hpp"
#include "cli/terminal/ask.hpp"
#include "config/project/project.hpp"

#include <fcntl.h>

namespace ponk::cli {
namespace computetarget_setup_command {

constexpr Option options[] = {
    named::target_option,
    {.name = "yes", .brief = "y", .help = "Do not ask for confirmation."},
    {.name = "dry-run", .help = "Show what would be done, and change nothing."},
};
constexpr Positional positionals[] = {named::target};
constexpr Example examples[] = {
    {"ponk computetarget setup gpu1", "Install what the machine lacks, after confirmation."},
    {"ponk computetarget setup gpu1 --dry-run", "Only show the steps."},
};

// A file beside what else is known of the host; everything the machine says goes there.
Result<os::Path> log_file(const ssh::Connection& connection)
{
    std::string stamp = utc_text(wall_milliseconds());
    std::erase_if(stamp, [](char c) { return c == ':' || c == '-' || c == '.'; });
    return connection.client().folder().path() / fmt::format("setup-{}.log", stamp);
}

tl::expected<ssh::Secret, Failure> sudo_password(const HostSurvey& survey,
                                                 const ssh::Address& address)
{
    if (survey.is_root || survey.sudo == HostSurvey::Sudo::free) return ssh::Secret();
    if (!has_terminal()) {
        return fail_with(exit_code::unavailable,
                         ErrorKind::unavailable,
                         "sudo on '{}' asks for a password, and there is no terminal to ask for it",
                         address.text());
    }
    return ssh::Secret(
        TRY(read_secret(fmt::format("Password of '{}' for sudo there", address.text()))));
}

Outcome do_setup(Context& context,
                 ssh::Connection& connection,
                 const HostSurvey& survey,
                 const SetupPlan& plan)
{
    ssh::Secret password = TRY(sudo_password(survey, connection.address()));
    const os::Path path = TRY(log_file(connection));
    const os::Fd log = TRY(os::open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
    context.note("the output goes to {}", os::in_quotes(path));
    std::string rest;
    const auto sink = [&](std::string_view text) {
        [[maybe_unused]] const auto kept = os::write_all(log.get(), text);
        rest += text;
        for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
            const auto line = rest.substr(0, end);
            if (line.starts_with("== ")) context.note("{}", printable(line.substr(3)));
            rest.erase(0, end + 1);
        }
    };
    TRY(run_setup(connection, survey, plan, std::move(password), sink, {}));
    // Rights that come with a group hold from the next login on.
    connection.close();
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const config::ComputeTarget target =
        TRY(config::load_target(project, TRY(named::name_of(words))));
    TRY(require_runs(target));
    if (!config::is_another_machine(target)) {
        return fail_with(
            exit_code::usage,
            ErrorKind::invalid_argument,
            "target '{}' is this machine; 'setup' works only for machines reached by SSH",
            target.name);
    }
    if (*target.type == config::TargetType::slurm) {
        return fail_with(exit_code::usage,
                         ErrorKind::invalid_argument,
                         "target '{}' is a Slurm cluster: ponk installs nothing on its login node",
                         target.name);
    }
    auto connection = TRY(reach_host(context, target));
    const HostSurvey survey = TRY(survey_host(connection, {}));
    const auto role =
        *target.type == config::TargetType::remote ? HostRole::python : HostRole::containers;
    const SetupPlan plan = TRY(plan_setup(survey, role));
    JsonArray steps;
    for (const auto& step : plan.steps)
        steps.push_back(step.says);
    if (plan.steps.empty()) {
        return context.done(fmt::format("nothing to do: '{}' has everything it needs", target.name),
                            {{"name", target.name}, {"steps", steps}, {"done", false}});
    }
    context.note("these steps will run as root on '{}' ({}):",
                 connection.address().text(),
                 printable(survey.system));
    for (const auto& step : plan.steps)
        context.note("  - {}", step.says);
    if (words.has("dry-run")) {
        return context.done("nothing was changed",
                            {{"name", target.name}, {"steps", steps}, {"done", false}});
    }
    if (!words.has("yes")) TRY(confirm("Continue?"));
    TRY(do_setup(context, connection, survey, plan));
    if (const auto facts = ask_facts(context, project.root, target.name); facts && *facts)
        note_facts(context, target.name, **facts);
    context.note("next: ponk submit -c {} SCRIPT", target.name);
    return context.done(fmt::format("'{}' is set up", target.name),
                        {{"name", target.name}, {"steps", steps}, {"done", true}});
}

}  // namespace computetarget_setup_command

constinit const Command cmd_computetarget_setup = {
    .path = "computetarget setup",
    .summary = "Install what runs need on a Debian or Ubuntu machine",
    .description = "Checks the machine of an attached target, lists what is missing and the steps "
                   "to run as root, asks for confirmation, runs the steps over SSH, and keeps a "
                   "log. For remotedocker: the Debian package docker.io, its service, the group "
                   "docker, and live-restore. For remote: python3 and python3-venv. If sudo needs "
                   "a password, ponk asks for it and does not store it.",
    .options = computetarget_setup_command::options,
    .positionals = computetarget_setup_command::positionals,
    .examples = computetarget_setup_command::examples,
    .exits = "69 if the machine cannot be reached, is not Debian or Ubuntu, or does not allow the "
             "changes.",
    .run = computetarget_setup_command::run,
};

}  // namespace ponk::cli

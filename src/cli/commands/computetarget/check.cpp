// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/named.hpp"
#include "cli/gpus/gpu_devices.hpp"
#include "cli/hosts/interpreter.hpp"
#include "cli/hosts/served.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/hosts/target_facts.hpp"
#include "config/project/project.hpp"
#include "ssh/host_key.hpp"
#include "ssh/master.hpp"

namespace ponk::cli {
namespace computetarget_check_command {

constexpr Option options[] = {named::target_option,
                              {.name = "fingerprint",
                               .value = "SHA256:…",
                               .help = "Accept this host key from now on, if the machine presents "
                                       "it. Use this after the machine was reinstalled."}};
constexpr Positional positionals[] = {named::target};
constexpr Example examples[] = {
    {"ponk computetarget check gpu1",
     "Check whether runs can use the target, and what to improve."},
    {"ponk computetarget check gpu1 --fingerprint SHA256:…",
     "Accept the new host key of a reinstalled machine."},
};

Outcome
check_local(Context& context, const config::Project& project, const config::ComputeTarget& target)
{
    const Interpreter python = TRY(find_interpreter(project.root, target));
    const bool started = python.owner == Interpreter::Owner::user;
    const auto gpus = ask_gpus(*TRY(context.daemon()), project.root, target.name);
    const Json problem = gpus ? (*gpus)["problem"] : Json();
    const auto what = gpus ? problem.text("message") : gpus.error().message();
    const auto hint = gpus ? problem.text("hint") : gpus.error().hint();
    if (!what.empty()) context.note("warning: {}", printable(what));
    if (!hint.empty()) context.note("hint: {}", printable(hint));
    return context.done(fmt::format("target '{}' works: {} ({}); {}",
                                    target.name,
                                    printable(python.program.string()),
                                    started ? printable(python.version)
                                            : "not started: only 'submit' and 'prepare' start "
                                              "programs that come from the project",
                                    gpus ? gpus_line(*gpus) : "GPUs could not be checked"),
                        {{"name", target.name},
                         {"works", true},
                         {"interpreter", python.program.string()},
                         {"version", started ? Json(python.version) : Json()},
                         {"gpus", gpus ? (*gpus)["devices"] : Json()}});
}

// The target's files and key stay as they are; only which machine we believe to be it changes.
Outcome
accept_host_key(Context& context, const config::ComputeTarget& target, const std::string& text)
{
    const auto fingerprint = ssh::parse_fingerprint(text);
    if (!fingerprint) return fail_usage("'{}' is not a fingerprint", printable(text));
    TRY(ensure_attached(context, target));
    auto client = TRY(ssh::make_client(TRY(access_of(TRY(context.home()), target))));
    const auto limit = std::chrono::seconds(60);
    client.use_known_hosts(TRY(client.resolve(after(limit), {})).known_hosts);
    const auto key = TRY(ssh::learn_matching_key(client, *fingerprint, after(limit), {}));
    ssh::discard_master(client);
    TRY(ssh::remember_host_key(client.folder(), key));
    context.note("the {} host key {} of '{}' is accepted",
                 key.short_type(),
                 key.fingerprint,
                 client.address().text());
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    const config::Project project = TRY(config::open_project(TRY(context.project())));
    const config::ComputeTarget target =
        TRY(config::load_target(project, TRY(named::name_of(words))));
    TRY(require_runs(target));
    if (words.has("fingerprint") && !config::is_another_machine(target))
        return fail_usage("target '{}' has no host key: it does not use SSH", target.name);
    if (*target.type == config::TargetType::local) return check_local(context, project, target);
    if (const auto text = words.value("fingerprint")) TRY(accept_host_key(context, target, *text));
    // From here first: what keeps us out has more to say here, where somebody can answer.
    if (config::is_another_machine(target)) TRY(reach_host(context, target));
    const auto answer = TRY(ask_facts(context, project.root, target.name));
    if (!answer) {
        const char* reached = config::is_another_machine(target) ? " is reached; " : ": ";
        return context.done(
            fmt::format("target '{}'{}facts about it are not available: this daemon "
                        "cannot look at it",
                        target.name,
                        reached),
            {{"name", target.name}, {"works", Json()}, {"facts", Json()}});
    }
    const bool ready = is_ready(*answer);
    if (context.format() == output::Format::table) note_facts(context, target.name, *answer);
    JsonObject fields = answer->as_object();
    fields.set("name", target.name);
    fields.set("works", ready);
    TRY(context.done(ready ? fmt::format("target '{}' works", target.name)
                           : fmt::format("target '{}' cannot run scripts yet", target.name),
                     std::move(fields)));
    if (ready) return exit_code::success;
    return answer->boolean("reachable") ? exit_code::invalid : exit_code::unavailable;
}

}  // namespace computetarget_check_command

constinit const Command cmd_computetarget_check = {
    .path = "computetarget check",
    .summary = "Check whether a compute target works",
    .description = "Checks the machine: connection, architecture, container engine (version, API, "
                   "rights, rootless, live-restore), GPU driver and runtimes, Python and free disk "
                   "space. Each problem is shown with the next step. Nothing is changed, except "
                   "that '--fingerprint' stores a host key.",
    .options = computetarget_check_command::options,
    .positionals = computetarget_check_command::positionals,
    .examples = computetarget_check_command::examples,
    .exits = "0 if the target works, 65 if something must be fixed first, 69 if the target cannot "
             "be reached.",
    .run = computetarget_check_command::run,
};

}  // namespace ponk::cli

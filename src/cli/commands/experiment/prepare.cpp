// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/experiment/submit_options.hpp"
#include "cli/hosts/served.hpp"
#include "cli/hosts/target_access.hpp"
#include "cli/projects/consent.hpp"
#include "cli/runs/follow.hpp"
#include "cli/runs/submission.hpp"
#include "config/project/project.hpp"

namespace ponk::cli {
namespace experiment_prepare_command {

constexpr Option options[] = {
    common::run_configuration,
    common::target,
    common::conda,
    common::spark,
    {.name = "check", .help = "Only check whether a run could start at once; build nothing."},
    common::substitute,
    common::async,
    {.name = "untracked", .brief = "u", .help = "Do not show the preparation in history lists."},
    {.name = "wait", .help = "Ignored.", .shown = Option::Shown::no},
};
constexpr Example examples[] = {
    {"ponk experiment prepare -c docker", "Build the environment before the first run."},
    {"ponk experiment prepare -c docker --check", "Exit code 0 when a run could start at once."},
    {"ponk experiment prepare -c docker --substitute", "Replace packages that no longer exist."},
};

struct Asked {
    JsonObject body;
    bool builds = false;  // whatever the project's files say
};

tl::expected<Asked, Failure> read_words(Context& context, const Invocation& words)
{
    const os::Path folder = TRY(context.project());
    const config::Project project = TRY(config::open_project(folder));
    const auto name = words.value("run-configuration").value_or("local");
    const auto resolved = TRY(config::resolve(project, name, words.text("target")));
    TRY(require_runs(*resolved.target.type, resolved.target.name));
    TRY(ensure_attached(context, resolved.target));
    TRY(ask_for_consents(context, folder, resolved));
    const auto request = basic_request(folder, words);
    return Asked{request_body(request, Until::recorded),
                 config::uses_docker(*resolved.target.type) ||
                     config::builds_environment(resolved.run, resolved.target)};
}

std::string ready_text(const Json& outlook)
{
    const auto target = printable(outlook.text("target"));
    if (!outlook.text("version").empty()) {
        return fmt::format("target '{}' is ready: {} ({}) starts; nothing was built, because you "
                           "install the packages of this target yourself",
                           target,
                           printable(outlook.text("interpreter")),
                           printable(outlook.text("version")));
    }
    return fmt::format("target '{}' is ready: {}", target, printable(outlook.text("reason")));
}

void tell_notices(Context& context, const Json& outlook)
{
    if (!outlook["notices"].is_array()) return;
    for (const Json& notice : outlook["notices"].as_array())
        if (notice.is_string()) context.note("{}", notice.as_string());
}

JsonObject fields_of(const Json& outlook)
{
    JsonObject fields = outlook.as_object();
    fields.set("made", JsonArray{});
    return fields;
}

// The same command line, to build what it looked for.
std::string without_check(const Invocation& words)
{
    std::string line = "ponk experiment prepare -c " +
                       shell_word(words.value("run-configuration").value_or("local"));
    for (const auto* option : {"target", "conda-dependencies", "spark-dependencies"}) {
        if (const auto value = words.value(option))
            line += fmt::format(" --{} {}", option, shell_word(*value));
    }
    return words.has("substitute") ? line + " --substitute" : line;
}

// Why not, and what would help.
Failure not_ready(const Json& outlook, const Invocation& words)
{
    std::string reason = outlook.text("reason");
    std::string hint = fmt::format("'{}' builds it.", without_check(words));
    if (outlook["remarks"].is_array()) {
        for (const Json& remark : outlook["remarks"].as_array()) {
            if (remark.text("severity") != "error") continue;
            if (remark.text("what") != reason) reason += "; " + remark.text("what");
            hint = remark.text("hint");
        }
    }
    return {Error(ErrorKind::not_found,
                  fmt::format("the environment of target '{}' is not ready: {}",
                              printable(outlook.text("target")),
                              reason),
                  hint),
            exit_code::not_found};
}

Outcome check_only(Context& context, const Json& outlook, const Invocation& words)
{
    tell_notices(context, outlook);
    if (outlook.boolean("ready")) return context.done(ready_text(outlook), fields_of(outlook));
    if (context.format() != output::Format::table || context.has_query())
        TRY(context.print(Json(fields_of(outlook))));
    return tl::unexpected(not_ready(outlook, words));
}

Outcome report(Context& context, const Json& record)
{
    const Json& had = record["environment"];
    const auto id = had.text("id");
    JsonArray made;
    if (had.boolean("built")) made.emplace_back(id);
    JsonObject fields{{"ready", true},
                      {"made", std::move(made)},
                      {"target", record["target"]},
                      {"run_id", record["run_id"]},
                      {"environment", had}};
    if (id.empty()) {
        return context.done(fmt::format("Your environment is now ready: the image '{}' is present, "
                                        "and nothing else is required",
                                        printable(had.text("base_image"))),
                            std::move(fields));
    }
    return context.done(fmt::format("Your environment is now ready: {} by {}; {}",
                                    id.substr(0, 12),
                                    printable(had.text("builder")),
                                    printable(had.text("reason"))),
                        std::move(fields));
}

Outcome run(Context& context, const Invocation& words)
{
    const Asked asked = TRY(read_words(context, words));
    const bool only_check = words.has("check");
    if (only_check || !asked.builds) {
        Daemon* daemon = TRY(context.daemon());
        const Json outlook = TRY(daemon->send(
            "POST", "/environments/check", asked.body, Daemon::Repeat::when_broken, submit_limit));
        // A file of the project that names packages is built from without any configuration, too.
        const bool would_build = !outlook.text("conda_file").empty() && !outlook.boolean("ready");
        if (only_check || !would_build) return check_only(context, outlook, words);
    }
    const Json record = TRY(submit(context, "/environments/prepare", asked.body, Until::recorded));
    if (words.has("async")) return print_started(context, record);
    const Json ended = TRY(follow_preparation(context, record.text("run_id")));
    const RunEnd end = end_of(ended);
    if (end.error) return tl::unexpected(Failure(*end.error, end.code));
    return report(context, ended);
}

}  // namespace experiment_prepare_command

constinit const Command cmd_experiment_prepare = {
    .path = "experiment prepare",
    .summary = "Build the environment of a run ahead of time",
    .description =
        "Runs build the environment that they need automatically, unless 'PrepareEnvironment: "
        "false' is set; this command does it early. On targets with containers, ponk pulls the "
        "image of 'baseDockerImage' and installs the packages of the conda file on it. On this "
        "machine "
        "ponk installs what the project's file of packages names, into an environment of its own; "
        "with a '.venv', or where the packages are yours (a project of 2017 without "
        "'ManagedEnvironment: true'), it starts your Python once and installs nothing.\nAn "
        "environment is built once and shared by all runs "
        "that need the same; if it is built again, ponk prints what changed. The preparation is "
        "recorded as a run, and its log is the output of the build. Ctrl-C cancels the build.",
    .options = experiment_prepare_command::options,
    .examples = experiment_prepare_command::examples,
    .exits = "66 if, with '--check', a run could not start at once.",
    .run = experiment_prepare_command::run,
};

}  // namespace ponk::cli

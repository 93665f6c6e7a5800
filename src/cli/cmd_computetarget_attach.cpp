// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "config/project.hpp"
#include "config/write.hpp"

#include <algorithm>
#include <unistd.h>

namespace ponk::cli {
namespace {

constexpr std::string_view types[] = {"local",
                                      "localdocker",
                                      "docker",
                                      "remotedocker",
                                      "remote",
                                      "slurm",
                                      "cluster",
                                      "virtualmachine"};
constexpr Option options[] = {
    {.name = "name", .brief = "n", .value = "NAME", .help = "Name of the target."},
    {.name = "type",
     .brief = "t",
     .value = "TYPE",
     .help = "The type, as an option (form of autumn 2017).",
     .complete = Complete::choice,
     .choices = types},
    {.name = "cluster", .help = "'--type cluster', as in spring 2017.", .shown = Option::Shown::no},
    {.name = "address", .brief = "a", .value = "HOST[:PORT]", .help = "Machine to reach by SSH."},
    {.name = "username", .brief = "u", .value = "USER", .help = "User there."},
    {.name = "password",
     .brief = "w",
     .value = "TEXT",
     .help = "Password there. Other users may see a command line: leave it out to be asked."},
    {.name = "use-azureml-ssh-key", .brief = "k", .help = "Use a key instead of a password."},
    {.name = "private-key-file",
     .value = "FILE",
     .help = "Private key to use.",
     .complete = Complete::file},
    {.name = "private-key-passphrase", .value = "TEXT", .help = "Its passphrase."},
    {.name = "hide-password", .help = "Always so.", .shown = Option::Shown::no},
    {.name = "python",
     .value = "PATH",
     .help = "Interpreter of a local target (pythonLocation).",
     .complete = Complete::file},
};
constexpr Positional positionals[] = {
    {.name = "TYPE",
     .help = "local, localdocker, remotedocker, remote, slurm or cluster.",
     .count = Positional::Count::optional,
     .complete = Complete::choice,
     .choices = types},
};
constexpr std::string_view aliases[] = {"attach"};
constexpr Example examples[] = {
    {"ponk attach local --name py39 --python /opt/py39/bin/python", "Another interpreter here."},
    {"ponk computetarget attach remotedocker --name box --address HOST --username USER",
     "The form of December 2017."},
    {"ponk computetarget attach --name box --address HOST --username USER --type remotedocker",
     "The form of September 2017."},
};

// The one type that the different grammars name.
Result<std::string> type_of(const Invocation& words)
{
    std::vector<std::string> named;
    if (const auto word = words.word(0)) named.push_back(*word);
    if (const auto option = words.value("type")) named.push_back(*option);
    if (words.has("cluster")) named.emplace_back("cluster");
    if (named.empty()) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "'computetarget attach' needs a type",
                                    "For example: 'ponk attach local --name NAME'."));
    }
    const std::string type = named[0];
    if (std::ranges::any_of(named, [&](const std::string& other) { return other != type; })) {
        return fail(
            ErrorKind::invalid_argument, "two types are named: '{}' and '{}'", named[0], named[1]);
    }
    if (type == "docker") return "localdocker";
    if (type == "virtualmachine") return "remotedocker";
    return type;
}

Result<> check_ssh_options(const Invocation& words, const std::string& type)
{
    for (const std::string_view needed : {"address", "username"}) {
        if (words.has(needed)) continue;
        return fail(
            ErrorKind::invalid_argument, "a target of type '{}' needs '--{}'", type, needed);
    }
    if (words.has("password") && words.has("use-azureml-ssh-key")) {
        return fail(ErrorKind::invalid_argument,
                    "give '--password' or '--use-azureml-ssh-key', not both");
    }
    return {};
}

Outcome attach_local(Context& context, const Invocation& words, const std::string& name)
{
    for (const std::string_view foreign : {"address",
                                           "username",
                                           "password",
                                           "use-azureml-ssh-key",
                                           "private-key-file",
                                           "private-key-passphrase"}) {
        if (words.has(foreign)) return fail_usage("a local target has no '--{}'", foreign);
    }
    const os::Path project = TRY(context.project());
    std::error_code problem;
    for (const std::string_view extension : {".compute", ".runconfig"}) {
        const os::Path taken = project / "aml_config" / fmt::format("{}{}", name, extension);
        if (!std::filesystem::exists(taken, problem)) continue;
        return tl::unexpected(Failure(Error(
            ErrorKind::conflict,
            fmt::format("{} is there already", os::in_quotes(taken)),
            fmt::format("Choose another name, or remove both files: 'ponk computetarget detach {}' "
                        "and 'ponk runconfig delete {}'.",
                        name,
                        name))));
    }
    config::ComputeTarget target = config::built_in_local();
    target.name = name;
    if (const auto python = words.value("python")) target.python_location = *python;
    TRY(os::make_directories(project / "aml_config", 0755));
    const os::Path compute = TRY(config::write_compute_file(project, target));
    config::RunConfiguration configuration = config::built_in_run_configuration();
    configuration.name = name;
    configuration.target = name;
    const auto written = config::write_runconfig_file(project, configuration);
    if (!written) {
        ::unlink(compute.c_str());
        return tl::unexpected(Failure(written.error()));
    }
    context.note("next: ponk submit -c {} SCRIPT", name);
    return context.done(fmt::format("target '{}' is attached: {} and {}",
                                    name,
                                    compute.filename().string(),
                                    written->filename().string()),
                        {{"name", name},
                         {"type", "local"},
                         {"compute", compute.string()},
                         {"runconfig", written->string()}});
}

Outcome run(Context& context, const Invocation& words)
{
    const auto type = type_of(words);
    if (!type) return tl::unexpected(Failure(type.error(), exit_code::usage));
    const std::string name = words.text("name");
    if (name.empty()) return fail_usage("'computetarget attach' needs '--name'");
    if (const auto good = config::check_name("target", name); !good) {
        return tl::unexpected(Failure(good.error(), exit_code::usage));
    }
    if (*type == "local") return attach_local(context, words, name);
    if (*type == "remotedocker" || *type == "remote" || *type == "cluster" || *type == "slurm") {
        const auto good = check_ssh_options(words, *type);
        if (!good) return tl::unexpected(Failure(good.error(), exit_code::usage));
    }
    return tl::unexpected(
        Failure(Error(ErrorKind::unavailable,
                      fmt::format("targets of type '{}' are not built into this version", *type),
                      "Nothing was written and no password was kept. Local targets work today."),
                exit_code::not_built));
}

}  // namespace

constinit const Command cmd_computetarget_attach = {
    .path = "computetarget attach",
    .aliases = aliases,
    .summary = "Attach a place where scripts run",
    .description =
        "Writes aml_config/NAME.compute and aml_config/NAME.runconfig. Both grammars of the "
        "predecessor are understood: 'attach TYPE --name …' and 'attach --name … --type TYPE'. In "
        "this version targets of type local can be attached; other types are understood and "
        "answered with exit code 68.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .exits = "68 for a type that this version cannot serve; 73 when the target is there already.",
    .run = run,
};

}  // namespace ponk::cli

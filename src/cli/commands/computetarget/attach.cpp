// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/hosts/attach_host.hpp"
#include "config/project/project.hpp"
#include "config/project/write.hpp"

#include <algorithm>

namespace ponk::cli {
namespace {

constexpr std::string_view types[] = {"local",
                                      "localdocker",
                                      "docker",
                                      "remotedocker",
                                      "virtualmachine",
                                      "vm",
                                      "remote",
                                      "slurm",
                                      "cluster"};
constexpr Option options[] = {
    {.name = "from",
     .value = "FILE",
     .help = "A .compute file of the project: log in to the machine that it names, and use it from "
             "then on. The file stays as it is.",
     .complete = Complete::file},
    {.name = "name", .brief = "n", .value = "NAME", .help = "Name of the target."},
    {.name = "type",
     .brief = "t",
     .value = "TYPE",
     .help = "The type, as an option (form of autumn 2017).",
     .complete = Complete::choice,
     .choices = types},
    {.name = "cluster", .help = "'--type cluster', as in spring 2017.", .shown = Option::Shown::no},
    {.name = "address", .brief = "a", .value = "HOST[:PORT]", .help = "Machine to reach by SSH."},
    {.name = "username",
     .brief = "u",
     .value = "USER",
     .help = "User there. Default: as ~/.ssh/config says."},
    {.name = "password",
     .brief = "w",
     .value = "TEXT",
     .help = "Password there, used once to add a key. Other users may see a command line: leave it "
             "out to be asked."},
    {.name = "use-azureml-ssh-key",
     .brief = "k",
     .help = "Make a key for this machine and add it there with your own key or agent."},
    {.name = "private-key-file",
     .value = "FILE",
     .help = "Private key that opens it.",
     .complete = Complete::file},
    {.name = "private-key-passphrase", .value = "TEXT", .help = "Its passphrase."},
    {.name = "fingerprint",
     .value = "SHA256:…",
     .help =
         "Fingerprint of the host key to expect; without it a new key is shown and asked about."},
    {.name = "image", .value = "IMAGE", .help = "Image for containers (baseDockerImage)."},
    {.name = "hide-password", .help = "Always so.", .shown = Option::Shown::no},
    {.name = "python",
     .value = "PATH",
     .help = "Interpreter of a local or remote target (pythonLocation).",
     .complete = Complete::file},
};
constexpr Positional positionals[] = {
    {.name = "TYPE",
     .help = "local, localdocker (docker), remotedocker (virtualmachine, vm), remote, slurm or "
             "cluster.",
     .count = Positional::Count::optional,
     .complete = Complete::choice,
     .choices = types},
};
constexpr std::string_view aliases[] = {"attach"};
constexpr Example examples[] = {
    {"ponk attach local --name py39 --python /opt/py39/bin/python", "Another interpreter here."},
    {"ponk computetarget attach remotedocker --name gpu1 --address HOST --username USER",
     "The form of December 2017."},
    {"ponk computetarget attach --name gpu1 --address HOST --username USER --type remotedocker",
     "The form of September 2017."},
    {"ponk attach remote --name lab --address alias-of-ssh-config",
     "A machine without Docker, by its name in ~/.ssh/config."},
    {"ponk attach --from aml_config/box.compute",
     "A machine that a project from elsewhere names: none is contacted before that."},
    {"ponk attach docker --name docker --image python:3.11-slim", "The engine on this machine."},
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
    return type;
}

constexpr std::string_view ssh_options[] = {"address",
                                            "username",
                                            "password",
                                            "use-azureml-ssh-key",
                                            "private-key-file",
                                            "private-key-passphrase",
                                            "fingerprint"};

Outcome attach_local(Context& context, const Invocation& words, config::ComputeTarget target)
{
    const os::Path project = TRY(context.project());
    TRY(require_free_name(project, target.name));
    if (const auto python = words.value("python")) target.python_location = *python;
    const auto written = TRY(write_target(project, target));
    context.note("next: ponk submit -c {} SCRIPT", target.name);
    return context.done(fmt::format("target '{}' is attached: {} and {}",
                                    target.name,
                                    written.compute.filename().string(),
                                    written.runconfig.filename().string()),
                        {{"name", target.name},
                         {"type", "local"},
                         {"compute", written.compute.string()},
                         {"runconfig", written.runconfig.string()}});
}

// Options of another type are a mistake, not something to pass over.
Outcome check_options(const Invocation& words, config::TargetType type)
{
    const char* word = config::to_string(type);
    if (!config::uses_ssh(type)) {
        for (const std::string_view foreign : ssh_options) {
            if (words.has(foreign)) return fail_usage("a {} target has no '--{}'", word, foreign);
        }
    }
    if (!config::uses_docker(type) && words.has("image"))
        return fail_usage("a {} target has no '--image'", word);
    if (config::uses_docker(type) && words.has("python"))
        return fail_usage("a {} target has no '--python': its image has one", word);
    return exit_code::success;
}

constexpr std::string_view described_options[] = {
    "name", "type", "cluster", "address", "username", "image", "python"};

Outcome run_from(Context& context, const Invocation& words, const std::string& file)
{
    for (const std::string_view option : described_options) {
        if (words.has(option))
            return fail_usage("'--from' takes no '--{}': its file says it", option);
    }
    if (words.word(0)) return fail_usage("'--from' takes no type: its file says it");
    return attach_from(context, words, file);
}

Outcome run(Context& context, const Invocation& words)
{
    if (const auto file = words.value("from")) return run_from(context, words, *file);
    const auto word = type_of(words);
    if (!word) return tl::unexpected(Failure(word.error(), exit_code::usage));
    const std::string name = words.text("name");
    if (name.empty()) return fail_usage("'computetarget attach' needs '--name'");
    if (const auto good = config::check_name("target", name); !good) {
        return tl::unexpected(Failure(good.error(), exit_code::usage));
    }
    using config::TargetType;
    const auto type = config::target_type_from(*word);
    if (!type) return fail_usage("there is no type '{}' of targets", printable(*word));
    TRY(check_options(words, *type));
    config::ComputeTarget target = config::built_in_local();
    target.name = name;
    target.type = *type;
    if (*type == TargetType::local) return attach_local(context, words, std::move(target));
    if (*type == TargetType::localdocker) return attach_engine(context, words, std::move(target));
    if (*type == TargetType::remotedocker || *type == TargetType::remote)
        return attach_host(context, words, std::move(target));
    return tl::unexpected(
        Failure(Error(ErrorKind::unavailable,
                      fmt::format("targets of type '{}' are not built into this version", *word),
                      "Nothing was written and no password was kept. The types local, localdocker, "
                      "remotedocker and remote work today."),
                exit_code::not_built));
}

}  // namespace

constinit const Command cmd_computetarget_attach = {
    .path = "computetarget attach",
    .aliases = aliases,
    .summary = "Attach a place where scripts run",
    .description =
        "Writes aml_config/NAME.compute and aml_config/NAME.runconfig, looks at the machine and "
        "says "
        "the next command. Both grammars of the predecessor are understood: 'attach TYPE --name …' "
        "and 'attach --name … --type TYPE'. A machine reached by SSH shows its host key, which is "
        "asked about once or compared with '--fingerprint'. A password is used once, to add a key "
        "made for that machine to its ~/.ssh/authorized_keys, and is kept nowhere. Your own keys, "
        "agent and ~/.ssh/config work as they do for ssh. When it fails, nothing is left behind.\n"
        "A machine that only a file of the project names, a cloned one for example, is not "
        "contacted by any command: 'attach --from FILE' attaches it.\n"
        "NAME.compute is yours to edit. Its keys: 'baseDockerImage' (the image that environments "
        "are built on), 'sharedVolumes' (false: the project is copied into the container and "
        "back), "
        "'shmSize' (/dev/shm of the container: 512m, 1g), 'nvidiaDocker' (true: containers get "
        "GPUs), 'gpus' (how many, all, none, or which), 'gpu' (auto, required, none), 'gpuGrace', "
        "'shared' (true: others use the machine too), 'buildNetwork' (network of the steps that "
        "build an image: host, none, or a network's name), 'scratch' (a folder of the machine for "
        "runs and environments instead of ~/.ponk), 'nativeSharedDirectory' (where the folder that "
        "outlives runs is), 'pythonLocation' (interpreter of a local or remote target), "
        "'userManagedEnvironment' (false on a remote target: packages are installed there), "
        "'address', 'username', 'privateKey'. 'ponk check' tells what it makes of them.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .exits =
        "68 for a type that this version cannot serve; 69 when the machine cannot be reached or "
        "does not let us in; 73 when the target is there already or the host key is not the "
        "known one.",
    .run = run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/hosts/attach_host.hpp"
#include "cli/hosts/served.hpp"
#include "config/project/project.hpp"
#include "config/project/write.hpp"

#include <algorithm>

namespace ponk::cli {
namespace computetarget_attach_command {

constexpr Option options[] = {
    {.name = "from",
     .value = "FILE",
     .help = "Attach the machine that this .compute file of the project names. The file is not "
             "changed.",
     .complete = Complete::file},
    {.name = "name", .brief = "n", .value = "NAME", .help = "Name of the target."},
    {.name = "type",
     .brief = "t",
     .value = "TYPE",
     .help = "Same as TYPE.",
     .complete = Complete::choice,
     .choices = model::target_type_words},
    {.name = "cluster", .help = "Same as '--type cluster'.", .shown = Option::Shown::no},
    {.name = "address",
     .brief = "a",
     .value = "HOST[:PORT]",
     .help = "Host name or address to connect to by SSH."},
    {.name = "username",
     .brief = "u",
     .value = "USER",
     .help = "User name on the machine. Default: from ~/.ssh/config."},
    {.name = "password",
     .brief = "w",
     .value = "TEXT",
     .help = "Password on the machine, used once to add a key. Other users can see command lines: "
             "omit it and ponk asks for it."},
    {.name = "password-stdin",
     .help = "Read the password from standard input: for programs that call ponk."},
    {.name = "use-azureml-ssh-key",
     .brief = "k",
     .help =
         "Create a key for this machine, and add it to the machine with your own key or agent."},
    {.name = "private-key-file",
     .value = "FILE",
     .help = "Private key to log in with.",
     .complete = Complete::file},
    {.name = "private-key-passphrase", .value = "TEXT", .help = "Passphrase of the private key."},
    {.name = "fingerprint",
     .value = "SHA256:…",
     .help = "Expected fingerprint of the host key. Without it, ponk shows a new key and asks "
             "whether to accept it."},
    {.name = "show-host-key",
     .help = "Show the machine's host key and its fingerprint. Nothing is attached."},
    {.name = "image", .value = "IMAGE", .help = "Image for containers (baseDockerImage)."},
    {.name = "hide-password",
     .help = "Ignored: the password is never shown.",
     .shown = Option::Shown::no},
    {.name = "python",
     .value = "PATH",
     .help = "Interpreter of a local or remote target (pythonLocation).",
     .complete = Complete::file},
    {.name = "partition", .value = "NAME", .help = "Slurm partition of the runs."},
    {.name = "account", .value = "NAME", .help = "Slurm account that is charged for the runs."},
    {.name = "qos", .value = "NAME", .help = "Slurm quality of service of the runs."},
    {.name = "gres",
     .value = "gpu[:TYPE]:N",
     .help = "GPUs that Slurm gives each run, unless 'submit --gpus' requests another number."},
};
constexpr Positional positionals[] = {
    {.name = "TYPE",
     .help = "local, localdocker (docker), remotedocker (virtualmachine, vm), remote, slurm or "
             "cluster. If omitted, with --address: remotedocker.",
     .count = Positional::Count::optional,
     .complete = Complete::choice,
     .choices = model::target_type_words},
};
constexpr std::string_view aliases[] = {"attach"};
constexpr Example examples[] = {
    {"ponk attach local --name py39 --python /opt/py39/bin/python",
     "Use another Python interpreter on this machine."},
    {"ponk computetarget attach remotedocker --name gpu1 --address HOST --username USER",
     "Run in containers on another machine."},
    {"ponk computetarget attach --name gpu1 --address HOST --username USER --type remotedocker",
     "The same, with the type as an option."},
    {"ponk attach remote --name lab --address alias-of-ssh-config",
     "Run on a machine without Docker, by its name in ~/.ssh/config."},
    {"ponk attach --from aml_config/gpu1.compute",
     "Attach a machine that a cloned project names. ponk does not contact it before that."},
    {"ponk attach --address HOST --username USER --show-host-key",
     "Show the fingerprint of a machine's host key, for '--fingerprint'."},
    {"ponk attach slurm --name cluster --address login.example --username USER",
     "Run on a Slurm cluster. Without '--address' this machine is its login node."},
    {"ponk attach docker --name docker --image python:3.11-slim",
     "Run in containers on this machine."},
};

// The one type that the different grammars name.
Result<std::string> type_of(const Invocation& words)
{
    std::vector<std::string> named;
    if (const auto word = words.word(0)) named.push_back(*word);
    if (const auto option = words.value("type")) named.push_back(*option);
    if (words.has("cluster")) named.emplace_back("cluster");
    // In early 2017 there were two kinds of machines, and only the other one had an option.
    if (named.empty() && words.has("address")) return std::string("remotedocker");
    if (named.empty()) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  "'computetarget attach' needs a type",
                  "For example: 'ponk attach local --name NAME'. With '--address' "
                  "it is remotedocker."));
    }
    const std::string type = named[0];
    if (std::ranges::any_of(named, [&](const std::string& other) { return other != type; })) {
        return fail(
            ErrorKind::invalid_argument, "two types are given: '{}' and '{}'", named[0], named[1]);
    }
    return type;
}

constexpr std::string_view ssh_options[] = {"address",
                                            "username",
                                            "password",
                                            "use-azureml-ssh-key",
                                            "private-key-file",
                                            "private-key-passphrase",
                                            "fingerprint",
                                            "password-stdin"};

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
            if (words.has(foreign))
                return fail_usage("'--{1}' cannot be used with a {0} target", word, foreign);
        }
    }
    if (type != config::TargetType::slurm) {
        for (const std::string_view option : {"partition", "account", "qos", "gres"}) {
            if (words.has(option))
                return fail_usage("'--{}' cannot be used with a {} target", option, word);
        }
    }
    if (!config::uses_docker(type) && words.has("image"))
        return fail_usage("'--image' cannot be used with a {} target", word);
    if (config::uses_docker(type) && words.has("python"))
        return fail_usage(
            "'--python' cannot be used with a {} target: it uses the Python of its image", word);
    return exit_code::success;
}

constexpr std::string_view described_options[] = {
    "name", "type", "cluster", "address", "username", "image", "python"};

Outcome run_from(Context& context, const Invocation& words, const std::string& file)
{
    for (const std::string_view option : described_options) {
        if (words.has(option))
            return fail_usage("'--from' cannot be used with '--{}': the file decides it", option);
    }
    if (words.word(0))
        return fail_usage("'--from' cannot be used with a type: the file decides it");
    return attach_from(context, words, file);
}

Outcome run(Context& context, const Invocation& words)
{
    if (words.has("show-host-key")) return show_host_key(context, words);
    if (const auto file = words.value("from")) return run_from(context, words, *file);
    const auto word = type_of(words);
    if (!word) return tl::unexpected(Failure(word.error(), exit_code::usage));
    const std::string name = words.text("name");
    if (name.empty()) return fail_usage("'computetarget attach' needs '--name'");
    if (const auto good = config::check_name("target", name); !good) {
        return tl::unexpected(Failure(good.error(), exit_code::usage));
    }
    const auto type = config::target_type_from(*word);
    if (!type) return fail_usage("unknown target type '{}'", printable(*word));
    TRY(check_options(words, *type));
    config::ComputeTarget target = config::built_in_local();
    target.name = name;
    target.type = *type;
    if (config::is_process_here(*type)) return attach_local(context, words, std::move(target));
    if (config::is_served(*type)) {
        for (const auto& [option, key] : {std::pair("partition", &target.slurm.partition),
                                          {"account", &target.slurm.account},
                                          {"qos", &target.slurm.qos},
                                          {"gres", &target.slurm.gres}})
            if (const auto value = words.value(option)) *key = *value;
        const bool is_here = *type == config::TargetType::slurm && !words.has("address");
        return config::uses_ssh(*type) && !is_here
                   ? attach_host(context, words, std::move(target))
                   : attach_engine(context, words, std::move(target));
    }
    std::vector<std::string> served;
    for (const auto& traits : model::target_types)
        if (config::is_served(traits.type)) served.emplace_back(traits.name());
    return require_runs(*type,
                        {},
                        "Nothing was written, and no password was kept. This version supports " +
                            join(served, ", ") + ".");
}

}  // namespace computetarget_attach_command

constinit const Command cmd_computetarget_attach = {
    .path = "computetarget attach",
    .aliases = computetarget_attach_command::aliases,
    .summary = "Attach a machine or container engine as a compute target",
    .description =
        "Writes aml_config/NAME.compute and aml_config/NAME.runconfig, checks the machine and "
        "prints the next command. Both 'attach TYPE --name …' and 'attach --name … --type TYPE' "
        "work.\nFor a machine reached by SSH, ponk shows the host key and asks once whether to "
        "accept it, or compares it with '--fingerprint'. A password is used once, to add a new key "
        "to ~/.ssh/authorized_keys on the machine, and is not stored. Your own keys, agent and "
        "~/.ssh/config work as they do for ssh. If a step fails, nothing is left behind.\nNo "
        "command contacts a machine that only a file of the project names, for example in a cloned "
        "project: 'attach --from FILE' attaches it.\nYou can edit NAME.compute. Its keys: "
        "'baseDockerImage' (base image of the environments), 'sharedVolumes' (false: the project "
        "is copied into the container and back), 'shmSize' (size of /dev/shm in the container: "
        "512m, 1g), 'nvidiaDocker' (true: containers get GPUs), 'gpus' (a number, all, none, or a "
        "list), 'gpu' (auto, required, none), 'gpuGrace', 'shared' (true: other people use the "
        "machine too), 'buildNetwork' (network for building images: host, none, or a network's "
        "name), 'mounts' (a list of folders of the machine for the container: /data:/data:ro), "
        "'scratch' (folder on the machine for runs and environments instead of ~/.ponk), "
        "'nativeSharedDirectory' (the folder shared by the project's runs), 'pythonLocation' "
        "(interpreter of a local or remote target), 'userManagedEnvironment' (false on a remote "
        "target: ponk installs packages there), 'address', 'username', 'privateKey'. 'ponk check' "
        "shows how ponk interprets them.",
    .options = computetarget_attach_command::options,
    .positionals = computetarget_attach_command::positionals,
    .examples = computetarget_attach_command::examples,
    .exits = "68 if this version does not support the type; 69 if the machine cannot be reached or "
             "refuses the login; 73 if the target already exists or the host key differs from the "
             "known one.",
    .run = computetarget_attach_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "config/files/docker_arguments.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <map>

namespace ponk::config {
namespace {

const std::map<std::string, std::string>& short_names()
{
    static const std::map<std::string, std::string> table{
        {"-e", "--env"}, {"-m", "--memory"}, {"-v", "--volume"}, {"--net", "--network"}};
    return table;
}

// Harmless without effect: the supervisor is the init, and nobody sits at the terminal.
bool has_no_effect(std::string_view option)
{
    return option == "--init" || option == "-i" || option == "-t" || option == "-it" ||
           option == "--interactive" || option == "--tty";
}

bool takes_no_value(std::string_view option)
{
    return option == "--read-only" || option == "--privileged" || option == "--rm" ||
           option == "-d" || option == "--detach";
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words)
{
    return std::ranges::find(words, word) != words.end();
}

}  // namespace

Result<std::vector<DockerArgument>> parse_docker_arguments(const std::vector<std::string>& words)
{
    std::vector<DockerArgument> arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
        auto option = words[i].substr(0, equals);
        if (has_no_effect(option)) continue;
        if (const auto name = short_names().find(option); name != short_names().end())
            option = name->second;
        if (takes_no_value(option)) {
            arguments.push_back({option, {}});
            continue;
        }
        if (equals == std::string::npos && i + 1 == words.size())
            return fail(ErrorKind::invalid_argument,
                        "docker argument '{}' needs a value",
                        printable(option));
        auto value = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
        arguments.push_back({std::move(option), std::move(value)});
    }
    return arguments;
}

bool reaches_host(const DockerArgument& argument)
{
    // Listed are those that do not: one that nobody thought of is asked about.
    if (is_one_of(argument.option,
                  {"--add-host",
                   "--cap-drop",
                   "--cpu-shares",
                   "--cpus",
                   "--cpuset-cpus",
                   "--dns",
                   "--dns-search",
                   "--env",
                   "--memory",
                   "--memory-reservation",
                   "--memory-swap",
                   "--pids-limit",
                   "--read-only",
                   "--shm-size",
                   "--tmpfs",
                   "--ulimit"}))
        return false;
    const auto value = lower(argument.value);
    if (argument.option == "--network") return !is_one_of(value, {"none", "bridge", "default"});
    if (argument.option == "--ipc") return !is_one_of(value, {"none", "private", "shareable"});
    if (argument.option == "--security-opt")
        return !value.starts_with("no-new-privileges") || value.ends_with("false");
    return true;
}

}  // namespace ponk::config

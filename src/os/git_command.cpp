// SPDX-License-Identifier: Apache-2.0
#include "os/git_command.hpp"

#include "os/helper_environment.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <string_view>

namespace ponk::os {
namespace {

// Settings of the command line are stronger than those of the repository.
constexpr const char* harmless_settings[] = {
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.sshCommand=false",
    "core.alternateRefsCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "safe.bareRepository=explicit",  // one that is checked in, as files of the project, is none
};

// The same where a repository is fetched from, as far as fetching allows it. Whom to ask and with
// which key stays the user's own business.
constexpr const char* clone_settings[] = {
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.alternateRefsCommand=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
    "protocol.file.allow=user",
    "init.templateDir=",
};

// Variables that say which repository is meant, or what a new one begins with.
constexpr std::string_view repository_variables[] = {"GIT_DIR=",
                                                     "GIT_WORK_TREE=",
                                                     "GIT_COMMON_DIR=",
                                                     "GIT_INDEX_FILE=",
                                                     "GIT_NAMESPACE=",
                                                     "GIT_OBJECT_DIRECTORY=",
                                                     "GIT_ALTERNATE_OBJECT_DIRECTORIES=",
                                                     "GIT_TEMPLATE_DIR=",
                                                     "GIT_ALLOW_PROTOCOL="};

// A repository on this machine is served by git itself, which reads that repository's settings:
// nothing there may send it to another one.
const char* protocols_of(const std::string& address)
{
    // A path is one as git sees it: before its first colon, if it has one, there is a slash.
    const auto colon = address.find(':');
    const bool is_path = colon == std::string::npos || address.find('/') < colon;
    return is_path || address.starts_with("file:") ? "GIT_ALLOW_PROTOCOL=file"
                                                   : "GIT_ALLOW_PROTOCOL=https:http:ssh:git";
}

// Ours without the words for git, which may come from a hook or an alias around us.
std::vector<std::string> plain_environment()
{
    std::vector<std::string> variables;
    for (auto& variable : helper_environment(own_variables())) {
        if (!variable.starts_with("GIT_")) variables.push_back(std::move(variable));
    }
    variables.emplace_back("GIT_TERMINAL_PROMPT=0");
    return variables;
}

}  // namespace

Command git_question(const Path& folder, const std::vector<std::string>& words)
{
    Command command;
    command.argv = {"git", "--no-pager", "--no-optional-locks"};
    for (const char* setting : harmless_settings)
        command.argv.insert(command.argv.end(), {"-c", setting});
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.env = plain_environment();
    for (const char* variable : {"GIT_NO_LAZY_FETCH=1",
                                 "GIT_ALLOW_PROTOCOL=",  // none, whatever the repository allows
                                 "GIT_OPTIONAL_LOCKS=0",
                                 "GIT_ATTR_NOSYSTEM=1",
                                 "GIT_ASKPASS=false",
                                 "SSH_ASKPASS=false"})
        command.env->emplace_back(variable);
    command.directory = folder;
    return command;
}

Command git_clone(const std::string& address, const Path& to)
{
    Command command;
    command.argv = {"git"};
    for (const char* setting : clone_settings)
        command.argv.insert(command.argv.end(), {"-c", setting});
    for (const char* word : {"clone", "--no-recurse-submodules", "--template=", "--"})
        command.argv.emplace_back(word);
    command.argv.push_back(address);
    command.argv.push_back(to.string());
    command.env.emplace();
    for (auto& variable : helper_environment(own_variables())) {
        const bool is_left_out = std::ranges::any_of(
            repository_variables, [&](auto name) { return variable.starts_with(name); });
        if (!is_left_out) command.env->push_back(std::move(variable));
    }
    command.env->emplace_back("GIT_NO_LAZY_FETCH=1");
    command.env->emplace_back(protocols_of(address));
    command.directory = "/";
    return command;
}

Command git_version(const Path& program)
{
    Command command;
    command.argv = {program.string(), "--version"};
    command.directory = "/";
    return command;
}

}  // namespace ponk::os

// SPDX-License-Identifier: Apache-2.0
#include "os/git_command.hpp"

#include "os/helper_environment.hpp"
#include "os/variables.hpp"

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
    command.argv = {"git", "clone", "--", address, to.string()};
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

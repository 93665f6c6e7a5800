// SPDX-License-Identifier: Apache-2.0
#include "api/native/prompt_place.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "engine/run/examine_environment.hpp"
#include "environment/cache/cache.hpp"
#include "executor/environments/environment.hpp"
#include "executor/environments/managed_environment.hpp"
#include "os/carried_program.hpp"
#include "os/variables.hpp"

#include <cerrno>
#include <filesystem>
#include <unistd.h>

namespace ponk::api {

namespace {

constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";

struct Python {
    std::string program;
    std::string why;
    std::string prefix;      // of the user's own environment
    std::string built_from;  // the file of the project, where ponk has built it
    std::string id;          // of that environment
};

std::string path_of(const std::vector<std::string>& environment)
{
    auto path = os::variable(environment, "PATH");
    return path.empty() ? usual_path : path;
}

Python python_on_path(const std::vector<std::string>& environment, std::string why)
{
    for (const char* name : {"python", "python3"}) {
        if (const auto found = os::find_program(name, path_of(environment)))
            return {.program = found->native(), .why = std::move(why)};
    }
    return {.why = std::move(why)};
}

std::string first_line_of(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

// As a run on `local` would have it.
Python choose_python(const Services& services,
                     const os::Path& project,
                     const std::vector<std::string>& environment)
{
    model::RunRequest request;
    request.id = RunId::make();
    request.project = project.native();
    request.purpose = model::Policy::Purpose::prepare;
    const auto outlook =
        engine::examine_environment(services.context(), request, {environment, 022}, {});
    if (!outlook) {
        return python_on_path(
            environment,
            fmt::format("the Python on PATH, because runs on 'local' would not start: {}",
                        first_line_of(outlook.error().message())));
    }
    const auto& spec = outlook->run.spec;
    const auto& found = outlook->found;
    if (!spec.environment.file.empty() && !found.ready) {
        return python_on_path(
            environment,
            fmt::format("the Python on PATH, because the packages of '{}' are not installed yet: "
                        "'ponk experiment prepare -c local' installs them",
                        printable(spec.environment.file)));
    }
    Python python{.program = found.interpreter,
                  .why = spec.environment.choice,
                  .prefix = spec.environment.prefix,
                  .built_from = spec.environment.file,
                  .id = spec.environment.file.empty() ? "" : found.id};
    // Relative to the project; the copy that was examined is gone.
    if (const auto& given = spec.program.interpreter;
        given.find('/') != std::string::npos && !os::Path(given).is_absolute())
        python.program = (project / given).native();
    if (spec.runtime.container || ::access(python.program.c_str(), X_OK) != 0)
        return python_on_path(environment, "the Python on PATH");
    return python;
}

struct File {
    std::string name;
    std::string text;  // a link to it, when it begins with '/'
};

std::string wrapper(const std::string& words)
{
    return "#!/bin/sh\nexec " + words + " \"$@\"\n";
}

std::vector<File> files_for(const Python& python, const std::string& ponk)
{
    std::vector<File> files{{"ponk", ponk}, {"az", ponk}};
    if (python.program.empty()) return files;
    // A link would lead a Python out of its virtual environment.
    const auto program = shell_word(python.program);
    for (const char* name : {"python", "python3"})
        files.push_back({name, wrapper(program)});
    files.push_back({"ponk-pip", ponk});
    for (const char* name : {"pip", "pip3"}) {
        files.push_back(
            {name,
             wrapper("\"${0%/*}/ponk-pip\" " + program + " " + shell_word(python.built_from))});
    }
    return files;
}

// The user's own settings count, but what a prompt is for stays in front.
std::string bash_settings(const os::Path& tools)
{
    return "# Your own settings first, then 'python', 'pip' and 'az' of ponk in front of PATH.\n"
           "if [ -f ~/.bashrc ]; then . ~/.bashrc; fi\n"
           "PATH=" +
           shell_word(tools.native()) + ":$PATH\n";
}

constexpr const char* bash_settings_name = "bashrc";

Result<> put(const os::Path& folder, const File& file)
{
    const auto place = folder / file.name;
    if (!file.text.starts_with('/')) {
        if (os::holds(place, file.text) && ::access(place.c_str(), X_OK) == 0) return {};
        return os::replace_file(place, file.text, 0700);
    }
    std::error_code problem;
    if (std::filesystem::read_symlink(place, problem) == file.text) return {};
    std::filesystem::remove(place, problem);
    if (::symlink(file.text.c_str(), place.c_str()) != 0 && errno != EEXIST)
        return fail_errno(errno, "make {}", os::in_quotes(place));
    return {};
}

// By content: prompts of several projects do not change each other's programs.
Result<os::Path> put_tools(const os::Path& home, const Python& python)
{
    const auto files = files_for(python, os::own_program().native());
    std::string all;
    for (const auto& file : files)
        all += file.name + '\0' + file.text + '\0';
    const auto folder = home / "prompt" / sha256(all).text().substr(0, 16);
    TRY(os::make_directories(folder));
    for (const auto& file : files)
        TRY(put(folder, file));
    TRY(put(folder, {bash_settings_name, bash_settings(folder)}));
    return folder;
}

std::vector<std::string> ground_of(const Python& python, const std::vector<std::string>& own)
{
    executor::Environment ground(executor::ground_of_own(python.prefix, own));
    if (python.built_from.empty()) return ground.words();
    // The user's own Python must not shine through.
    for (const char* name : {"PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"})
        ground.unset(name);
    ground.set("PATH",
               os::Path(python.program).parent_path().native() + ":" + path_of(ground.words()));
    return ground.words();
}

std::vector<std::string> environment_for(const Services& services,
                                         const os::Path& project,
                                         const os::Path& tools,
                                         const std::vector<std::string>& ground)
{
    executor::Environment out(ground);
    // Of the terminal in which `ponk ui` was typed.
    for (const char* name : {"COLUMNS",
                             "LINES",
                             "OLDPWD",
                             "SHLVL",
                             "STY",
                             "TERMCAP",
                             "TERM_PROGRAM",
                             "TERM_PROGRAM_VERSION",
                             "TMUX",
                             "TMUX_PANE",
                             "VTE_VERSION",
                             "WINDOWID",
                             "PONK_RUN_ID"})
        out.unset(name);
    out.set("TERM", "xterm-256color");
    out.set("PWD", project.native());
    out.set("PONK_HOME", services.context().home.native());
    out.set("PATH", tools.native() + ":" + path_of(ground));
    return out.words();
}

std::string sentence_on(const Python& python)
{
    if (python.program.empty())
        return fmt::format("ponk: there is no Python here ({})", printable(python.why));
    return fmt::format("ponk: python is {} ({})", printable(python.program), printable(python.why));
}

}  // namespace

os::Command shell_of(const std::vector<std::string>& environment, const os::Path& tools)
{
    auto shell = os::variable(environment, "SHELL");
    const auto name = os::Path(shell).filename().native();
    const bool is_none = name == "nologin" || name == "false";
    if (!shell.starts_with('/') || is_none || !os::find_program(shell, "")) shell = "/bin/sh";
    os::Command command;
    command.argv = {shell};
    if (os::Path(shell).filename() == "bash")
        command.argv.insert(command.argv.end(),
                            {"--rcfile", (tools / bash_settings_name).native()});
    command.argv.emplace_back("-i");
    return command;
}

Result<PromptPlace>
make_prompt_place(const Services& services, const os::Path& project, const PromptRight& right)
{
    const auto own = right.environment.empty() ? os::own_variables() : right.environment;
    const auto python = choose_python(services, project, own);
    const auto& home = services.context().home;
    const auto tools = TRY(put_tools(home, python).map_error(while_doing("prepare a prompt")));
    PromptPlace place;
    place.python = python.program;
    place.first_line = sentence_on(python);
    place.command = shell_of(own, tools);
    place.command.env = environment_for(services, project, tools, ground_of(python, own));
    place.command.directory = project;
    place.command.umask = right.umask;
    if (!python.id.empty()) {
        const environment::Cache cache(home);
        place.lease = std::make_shared<os::FileLock>(TRY(cache.lock_for_use(python.id, {})));
        static_cast<void>(cache.note_use(python.id));
    }
    return place;
}

}  // namespace ponk::api

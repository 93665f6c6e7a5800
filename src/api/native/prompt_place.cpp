// SPDX-License-Identifier: Apache-2.0
#include "api/native/prompt_place.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "engine/run/find_python.hpp"
#include "executor/environments/environment.hpp"
#include "executor/environments/managed_environment.hpp"
#include "os/carried_program.hpp"
#include "os/file_lock.hpp"
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
    std::string prefix = {};      // of the user's own environment
    std::string built_from = {};  // the file of the project, where ponk has built it
    std::optional<environment::Prepared> built = {};
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
    auto found = engine::find_python(services.context(), request, {environment, 022});
    if (!found) {
        return python_on_path(
            environment,
            fmt::format("the Python on PATH, because runs on 'local' would not start: {}",
                        first_line_of(found.error().message())));
    }
    const auto& wanted = found->spec.environment;
    const bool is_here =
        found->spec.location.kind == model::Location::Kind::here && !found->spec.runtime.container;
    if (is_here && !wanted.file.empty() && !found->built) {
        return python_on_path(
            environment,
            fmt::format("the Python on PATH, because the packages of '{}' are not installed yet: "
                        "'ponk experiment prepare -c local' installs them",
                        printable(wanted.file)));
    }
    if (::access(found->interpreter.c_str(), X_OK) != 0)
        return python_on_path(environment, "the Python on PATH");
    return {.program = found->interpreter,
            .why = wanted.choice,
            .prefix = wanted.prefix,
            .built_from = wanted.file,
            .built = std::move(found->built)};
}

struct File {
    std::string name;
    std::string text;  // a link to it, when it begins with '/'
};

std::string wrapper(const std::string& words)
{
    return "#!/bin/sh\nexec " + words + " \"$@\"\n";
}

// Where this program is. After an upgrade the kernel says of the file of old that it was deleted,
// and a new one is in its place; empty: there is none.
std::string path_of_ponk()
{
    constexpr std::string_view deleted = " (deleted)";
    auto path = os::own_program().native();
    if (path.ends_with(deleted) && ::access(path.c_str(), X_OK) != 0)
        path.resize(path.size() - deleted.size());
    return path.starts_with('/') && ::access(path.c_str(), X_OK) == 0 ? path : "";
}

std::vector<File> files_for(const Python& python, const std::string& ponk)
{
    std::vector<File> files;
    if (!ponk.empty()) files = {{"ponk", ponk}, {"az", ponk}};
    if (python.program.empty()) return files;
    // A link would lead a Python out of its virtual environment.
    const auto program = shell_word(python.program);
    for (const char* name : {"python", "python3"})
        files.push_back({name, wrapper(program)});
    if (ponk.empty()) return files;
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
Result<std::shared_ptr<const os::Path>>
put_tools(const Services& services, const Python& python, const std::string& ponk)
{
    const auto& home = services.context().home;
    if (home.native().find(':') != std::string::npos) {
        return fail(ErrorKind::invalid_argument,
                    "PONK_HOME has a colon, so that PATH cannot lead to it: {}",
                    os::in_quotes(home));
    }
    const auto files = files_for(python, ponk);
    std::string all;
    for (const auto& file : files)
        all += file.name + '\0' + file.text + '\0';
    return services.prompts->keep_tools(
        home / "prompt",
        sha256(all).text().substr(0, 16),
        [&files](const os::Path& folder) -> Result<> {
            TRY(os::make_directories(folder));
            for (const auto& file : files)
                TRY(put(folder, file));
            return put(folder, {bash_settings_name, bash_settings(folder)});
        });
}

std::vector<std::string> ground_of(const Python& python, const std::vector<std::string>& own)
{
    return python.built ? executor::ground_of(*python.built, own)
                        : executor::ground_of_own(python.prefix, own);
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
                             "WINDOWID"})
        out.unset(name);
    out.set("TERM", "xterm-256color");
    out.set("PWD", project.native());
    const auto& mark = services.prompts->mark();
    out.set(Prompts::mark_name, mark.substr(mark.find('=') + 1));
    out.set("PONK_HOME", services.context().home.native());
    out.set("PATH", tools.native() + ":" + path_of(ground));
    return out.words();
}

std::string sentence_on(const Python& python, const std::string& ponk)
{
    auto sentence = python.program.empty()
                        ? fmt::format("ponk: there is no Python here ({})", printable(python.why))
                        : fmt::format("ponk: python is {} ({})",
                                      printable(python.program),
                                      printable(python.why));
    if (ponk.empty())
        sentence += "; 'ponk', 'az' and 'pip' are not those of ponk, because the program that the "
                    "daemon was started from is gone";
    return sentence;
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
    auto python = choose_python(services, project, own);
    const auto ponk = path_of_ponk();
    const auto tools = TRY(put_tools(services, python, ponk));
    PromptPlace place;
    place.python = python.program;
    place.first_line = sentence_on(python, ponk);
    place.command = shell_of(own, *tools);
    place.command.env = environment_for(services, project, *tools, ground_of(python, own));
    place.kept.push_back(tools);
    place.command.directory = project;
    place.command.umask = right.umask;
    if (python.built && python.built->lease)
        place.kept.push_back(std::make_shared<os::FileLock>(std::move(*python.built->lease)));
    return place;
}

}  // namespace ponk::api

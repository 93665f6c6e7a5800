// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_program.hpp"

#include "base/text.hpp"
#include "config/ignore/travel_rules.hpp"
#include "config/project/mlproject_use.hpp"
#include "engine/plan/entry_point.hpp"
#include "os/contained_path.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ponk::engine {

namespace {

// A word that no file has, without an extension, is most likely a program: 'torchrun train.py'.
std::string program_advice(const RunRequest& request)
{
    constexpr std::size_t most_words = 12;
    if (!request.script || Path(*request.script).has_extension() ||
        request.script->find_first_of("/\\") != std::string::npos)
        return {};
    auto words = request.arguments;
    words.insert(words.begin(), *request.script);
    const bool is_long = words.size() > most_words;
    words.resize(std::min(words.size(), most_words));
    for (auto& word : words)
        word = printable(shell_word(word));
    return "To run a program, write '--' before it: 'ponk submit -- " + join(words, " ") +
           (is_long ? " …'." : "'.");
}

// The script as it is named in the snapshot: relative, inside, there, and not ignored.
Result<std::string> resolve_script(const Path& project,
                                   const std::string& script,
                                   const std::string& folder = "",
                                   const std::string& advice = "")
{
    std::error_code ignored;
    if (!folder.empty() && std::filesystem::exists(project / folder / script, ignored))
        return resolve_script(project, (Path(folder) / script).native());
    const auto hint = "Give a script of the project, relative to " + os::in_quotes(project) + ".";
    if (script.find('\0') != std::string::npos)
        return fail(ErrorKind::invalid_argument, "the script's name contains a zero byte");
    std::error_code problem;
    auto path = Path(script);
    // As files and people who come from Windows write it.
    if (script.find('\\') != std::string::npos &&
        !std::filesystem::exists(project / path, problem)) {
        auto name = script;
        std::replace(name.begin(), name.end(), '\\', '/');
        path = name;
    }
    if (path.is_absolute()) {
        path = path.lexically_relative(project);
    } else {
        path = path.lexically_normal();
    }
    if (path.empty() || *path.begin() == "..") {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "script " + os::in_quotes(script) + " is outside the project",
                                    hint));
    }
    const auto status = std::filesystem::status(project / path, problem);
    if (!std::filesystem::exists(status)) {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(project, problem)) {
            if (entry.path().extension() == Path(script).extension())
                names.push_back(entry.path().filename().native());
        }
        const auto close = nearest(script, names);
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "script " + os::in_quotes(script) + " does not exist",
                                    close            ? "Did you mean '" + *close + "'?"
                                    : advice.empty() ? hint
                                                     : advice));
    }
    if (!std::filesystem::is_regular_file(status)) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "script " + os::in_quotes(script) + " is not a file",
                                    hint));
    }
    const auto real = std::filesystem::canonical(project / path, problem);
    const auto inside = real.lexically_relative(project);
    if (problem || inside.empty() || *inside.begin() == "..") {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  "script " + os::in_quotes(script) + " is a link to " + os::in_quotes(real) +
                      ", outside the project",
                  "ponk stores the script with the run: copy it into the project."));
    }
    const auto decision =
        TRY(TRY(config::TravelRules::load(project)).explain(path.native(), false));
    if (decision.fate == config::TravelRules::Fate::left_out) {
        return tl::unexpected(Error(ErrorKind::invalid_argument,
                                    "script " + os::in_quotes(script) +
                                        " does not travel with the run (" + decision.rule + ")",
                                    "Add the line '!/" + path.native() + "' to .amlignore."));
    }
    return path.native();
}

// Where the script starts: a folder that travels, or git would not have it there.
Result<std::string> resolve_folder(const Path& project, const std::string& folder)
{
    if (folder.empty()) return folder;
    const auto inside = TRY(os::contained_path(project, folder).map_error(while_doing("folder")));
    return inside.lexically_relative(project).native();
}

// mlflow uses bash; a container may have only sh.
std::string shell_for(const config::ComputeTarget& target, const Submitter& submitter)
{
    const bool has_bash =
        config::is_process_here(*target.type) &&
        os::find_program("bash", os::variable(submitter.environment, "PATH")).has_value();
    return has_bash ? "bash" : "/bin/sh";
}

// Variables of `docker_env` that the container gets as the submitting shell has them.
Result<> resolve_shell_variables(model::Program& program,
                                 const config::ResolvedConfiguration& resolved,
                                 const Submitter& submitter)
{
    if (!config::uses_docker(*resolved.target.type)) return {};
    for (const auto& variable : resolved.mlproject->docker_variables) {
        if (variable.value) continue;
        const bool is_here = !config::uses_ssh(*resolved.target.type);
        if (is_here && !os::variable(submitter.environment, variable.name).empty()) {
            program.shell_variables.push_back(variable.name);
            continue;
        }
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("{}:{}:{}: 'environment' needs the variable '{}' of your shell, {}",
                              resolved.mlproject->file,
                              variable.place.line,
                              variable.place.column,
                              printable(variable.name),
                              is_here ? "which is not set" : "which does not leave this machine"),
                  is_here ? "Set it, then submit again."
                          : fmt::format("Give its value: '--env {}=VALUE', or 'secret:NAME'.",
                                        shell_word(variable.name))));
    }
    return {};
}

Result<> resolve_entry_point(ResolvedRun& report,
                             RunRequest& request,
                             const std::string& name,
                             const config::ResolvedConfiguration& resolved,
                             const Submitter& submitter)
{
    auto& program = report.spec.program;
    const bool is_unknown =
        resolved.mlproject && request.entry_point.empty() && !resolved.mlproject->find(name);
    const auto given = is_unknown ? request.parameters : TRY(given_parameters(request));
    if (!resolved.mlproject) {
        // 'mlflow run -e train.py' needs no MLproject.
        if (Path(name).extension().empty())
            return tl::unexpected(Error(ErrorKind::not_found,
                                        fmt::format("there is no entry point '{}': {} has no "
                                                    "MLproject",
                                                    printable(name),
                                                    os::in_quotes(report.project)),
                                        "Give a script of the project instead."));
        program.script = TRY(resolve_script(report.project, name, request.folder));
        for (const auto& [key, value] : given) {
            program.arguments.push_back("--" + key);
            program.arguments.push_back(value);
        }
        report.parameters = given;
        return {};
    }
    auto command =
        TRY(entry_command(resolved, name, given, report.project).map_error([&](const Error& error) {
            const auto advice = is_unknown ? program_advice(request) : "";
            return advice.empty() ? error : error.with_hint(error.hint() + " " + advice);
        }));
    const auto has_input = [&](const std::string& input) {
        return std::any_of(request.inputs.begin(), request.inputs.end(), [&](const auto& other) {
            return other == input || other.ends_with("=" + input);
        });
    };
    for (auto& input : command.inputs) {
        if (has_input(input)) continue;
        report.notices.push_back(fmt::format("{} does not travel with the run: a parameter names "
                                             "it, so it is given as an input",
                                             os::in_quotes(input)));
        request.inputs.push_back(std::move(input));
    }
    program.script = name;
    program.folder.clear();  // its words are relative to the MLproject
    program.command = {shell_for(resolved.target, submitter), "-c", std::move(command.text)};
    for (const auto& [key, value] : given) {
        program.arguments.emplace_back("-P");
        program.arguments.push_back(key + "=" + value);
    }
    report.parameters = std::move(command.parameters);
    return resolve_shell_variables(program, resolved, submitter);
}

void note_unused_arguments(ResolvedRun& report,
                           const config::RunConfiguration& configuration,
                           std::string_view why)
{
    if (configuration.arguments.empty()) return;
    std::vector<std::string> words;
    for (const auto& argument : configuration.arguments)
        words.push_back(shell_word(*argument));
    const auto& place = configuration.arguments.front().place;
    report.notices.push_back(fmt::format("{}:{}:{}: these arguments are not used, as the command "
                                         "line {}: {}",
                                         configuration.file,
                                         place.line,
                                         place.column,
                                         why,
                                         printable(join(words, " "))));
}

// Arguments behind "$file" are for any script; those of a script that the configuration names count
// when the command line names none.
void take_configured_arguments(ResolvedRun& report, const config::RunConfiguration& configuration)
{
    if (!configuration.script->empty())
        return note_unused_arguments(report, configuration, "names the script");
    for (const auto& argument : configuration.arguments)
        report.spec.program.arguments.push_back(*argument);
}

}  // namespace

// Words after the script: the command line's, or ArgumentVector's when no script was named.
Result<> resolve_program(ResolvedRun& report,
                         RunRequest& request,
                         const config::ResolvedConfiguration& resolved,
                         const config::Project& project,
                         const Submitter& submitter)
{
    auto& program = report.spec.program;
    const auto& configuration = resolved.run;
    program.folder = TRY(resolve_folder(report.project, request.folder));
    if (!request.command.empty()) {
        program.script = request.command.front();
        program.command = request.command;
        program.arguments = {request.command.begin() + 1, request.command.end()};
        return {};
    }
    if (!request.module.empty()) {
        if (request.module.find('/') != std::string::npos || request.module.ends_with(".py")) {
            auto name = request.module.substr(0, request.module.rfind(".py"));
            std::replace(name.begin(), name.end(), '/', '.');
            return tl::unexpected(Error(
                ErrorKind::invalid_argument,
                "'" + printable(request.module) + "' is a file, not the name of a module",
                "Run the module with '-m " + printable(name) + "', or the file without '-m'."));
        }
        program.module = request.module;
        program.script = "-m " + request.module;
        program.arguments = request.arguments;
        return {};
    }
    if (const auto entry = config::entry_point_of(project, configuration, request))
        return resolve_entry_point(report, request, *entry, resolved, submitter);
    if (request.script) {
        program.script = TRY(resolve_script(
            report.project, *request.script, request.folder, program_advice(request)));
        for (const auto& [key, value] : request.parameters) {
            program.arguments.push_back("--" + key);
            program.arguments.push_back(value);
        }
        report.parameters = request.parameters;
        if (request.arguments.empty() && request.parameters.empty()) {
            take_configured_arguments(report, configuration);
        } else {
            program.arguments.insert(
                program.arguments.end(), request.arguments.begin(), request.arguments.end());
            note_unused_arguments(report, configuration, "has arguments");
        }
        return {};
    }
    if (!configuration.script->empty()) {
        program.script = TRY(resolve_script(report.project, *configuration.script)
                                 .map_error(while_doing("{}:{}:{}",
                                                        configuration.file,
                                                        configuration.script.place.line,
                                                        configuration.script.place.column)));
        for (const auto& argument : configuration.arguments)
            program.arguments.push_back(*argument);
        return {};
    }
    return tl::unexpected(Error(ErrorKind::invalid_argument,
                                "no script given",
                                "Put it after the options: ponk experiment submit -c " +
                                    request.run_configuration + " train.py"));
}

}  // namespace ponk::engine

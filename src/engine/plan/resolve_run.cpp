// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/ignore/travel_rules.hpp"
#include "config/project/config_file.hpp"
#include "config/project/mlproject_use.hpp"
#include "config/project/project.hpp"
#include "engine/plan/choose_packages.hpp"
#include "engine/plan/choose_program.hpp"
#include "engine/plan/container_plan.hpp"
#include "engine/plan/entry_point.hpp"
#include "engine/plan/gpu_plan.hpp"
#include "engine/plan/inputs.hpp"
#include "engine/plan/plan_checks.hpp"
#include "engine/plan/script_names.hpp"
#include "engine/plan/spark_options.hpp"
#include "executor/events/event_files.hpp"
#include "os/contained_path.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ponk::engine {

namespace {

std::string expand_home(const std::string& path, const std::vector<std::string>& environment)
{
    if (path == "~" || path.starts_with("~/")) {
        const auto home = os::variable(environment, "HOME");
        if (!home.empty()) return home + path.substr(1);
    }
    return path;
}

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

// Words after the script: the command line's, or ArgumentVector's when no script was named.
Result<> resolve_arguments(ResolvedRun& report,
                           RunRequest& request,
                           const config::ResolvedConfiguration& resolved,
                           const config::Project& project,
                           const Submitter& submitter)
{
    auto& program = report.spec.program;
    const auto& configuration = resolved.run;
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
        program.arguments.insert(
            program.arguments.end(), request.arguments.begin(), request.arguments.end());
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

void resolve_variables(model::Program& program,
                       const RunRequest& request,
                       const config::RunConfiguration& configuration)
{
    const auto set = [&program](const std::string& name, const std::string& value) {
        const auto same = [&name](const auto& variable) { return variable.first == name; };
        std::erase_if(program.variables, same);
        program.variables.emplace_back(name, value);
    };
    // For the reader of data preparation packages (python/ponk/dataprep).
    if (!*configuration.use_sampling) set("PONK_DATA_SAMPLING", "off");
    if (!configuration.data_source_substitutions.empty()) {
        JsonObject sources;
        for (const auto& [source, other] : configuration.data_source_substitutions)
            sources.set(source, other);
        set("PONK_DATA_SOURCES", to_json(Json(std::move(sources))));
    }
    for (const auto& variable : configuration.environment_variables)
        set(variable.name, variable.value);
    for (const auto& [name, value] : request.variables)
        set(name, value);
}

// Configurations of 2017 that do not say mean Spark. On this machine, which seldom has it, that
// holds for scripts that import it; the remark on it would be untrue of others.
Result<> resolve_framework(ResolvedRun& report, const config::ResolvedConfiguration& resolved)
{
    const auto& framework = resolved.run.framework;
    auto& program = report.spec.program;
    program.framework = *framework == config::Framework::pyspark ? "PySpark" : "Python";
    // It makes its own Spark session, if any.
    const bool is_notebook =
        lower(Path(program.script).extension().native()) == model::notebook_extension;
    bool is_plain = false;
    if (program.framework == "PySpark" && !framework.given() && !is_notebook &&
        config::is_process_here(*resolved.target.type)) {
        const auto files = files_of_script(report);
        is_plain = files && !config::imports_package(*files, "pyspark");
    }
    for (const auto& diagnostic : resolved.diagnostics) {
        if ((is_plain || is_notebook) && diagnostic.code == config::framework_missing) continue;
        report.notices.push_back(config::to_text(diagnostic) +
                                 (diagnostic.hint.empty() ? "" : "\n  " + diagnostic.hint));
    }
    if (!is_plain) return {};
    program.framework = "Python";
    report.notices.push_back(
        fmt::format("script {} does not import pyspark: it runs as Python, although '{}' without "
                    "'Framework' means Spark\n  Add the line 'Framework: Python', or 'Framework: "
                    "PySpark' to use Spark.",
                    os::in_quotes(program.script),
                    resolved.run.file));
    return {};
}

}  // namespace

void apply_spec(const RunSpec& spec, model::Run& run)
{
    run.script_name = spec.program.script;
    run.arguments = spec.program.arguments;
    run.target = spec.location.target;
    run.target_type = target_type(spec);
    run.run_configuration = spec.run_configuration;
    run.framework = spec.program.framework;
    run.tracked = spec.policy.tracked;
}

Result<ResolvedRun>
resolve_run(const RunRequest& asked, const Submitter& submitter, const ProjectKey& key)
{
    auto request = asked;  // parameters of an entry point may name inputs
    ResolvedRun report;
    report.project = key.path;
    const auto project = TRY(config::open_project(key.path));
    auto resolved = TRY(config::resolve(project, request.run_configuration, request.target));
    TRY(config::use_mlproject(project, request, resolved));
    auto& spec = report.spec;
    auto& program = spec.program;
    const auto& configuration = resolved.run;
    const auto& target = resolved.target;
    spec.id = request.id;
    spec.name = request.name;
    spec.project = key.id;
    spec.run_configuration = request.run_configuration;
    spec.policy = {.purpose = request.purpose,
                   .tracked = request.tracked.value_or(*configuration.tracked_run),
                   .collect_outputs = *configuration.output_collection,
                   .may_promote = !request.allow.empty()};
    // Where PyTorch Lightning and most examples write what nobody wants to lose.
    spec.policy.keep =
        configuration.keep.value_or(std::vector<std::string>{"checkpoints/", "lightning_logs/"});
    if (request.grace_seconds) spec.policy.grace = std::chrono::seconds(*request.grace_seconds);
    const auto& longest = configuration.max_run_duration_seconds;
    if (*longest < 0 || *longest > model::longest_time_limit) {
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("{}:{}:{}: maxRunDurationSeconds is {}",
                        configuration.file,
                        longest.place.line,
                        longest.place.column,
                        *longest),
            fmt::format("Write a number from 0 (no limit) to {}.", model::longest_time_limit)));
    }
    spec.resources.time_limit = std::chrono::seconds(
        request.time_limit_seconds.value_or(*configuration.max_run_duration_seconds));
    if (is_preparation(spec)) {
        program.script = model::preparation_name;
    } else {
        program.folder = TRY(resolve_folder(key.path, request.folder));
        TRY(resolve_arguments(report, request, resolved, project, submitter));
    }
    TRY(resolve_framework(report, resolved));
    spec.location = TRY(location_of(target, submitter.environment));
    program.interactive = request.interactive;
    if (program.interactive && spec.location.kind != model::Location::Kind::here) {
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("'--interactive' needs a target on this machine: '{}' is on '{}', and "
                        "what is typed here does not reach it",
                        target.name,
                        spec.location.host.address),
            "Pass values as arguments, or with '--env NAME=VALUE'."));
    }
    // Another machine has another home: what is there is expanded there.
    const auto expand = [&](const std::string& path) {
        return spec.location.kind == model::Location::Kind::host
                   ? path
                   : expand_home(path, submitter.environment);
    };
    if (!configuration.interpreter_path->empty()) {
        program.interpreter = expand(*configuration.interpreter_path);
    } else if (target.python_location.given()) {
        program.interpreter = expand(*target.python_location);
    }
    resolve_variables(program, request, configuration);
    if (program.framework == "PySpark" && program.command.empty()) {
        program.spark_options = TRY(spark_options(request, configuration, report));
    }
    spec.runtime.container = TRY(container_of(resolved, report.notices));
    report.requests = TRY(config::requests_of(resolved));
    for (const auto& each : report.requests) {
        if (each.kind == config::ConsentKind::folder)
            spec.runtime.named_shared_directory = each.what;
    }
    spec.resources.gpu =
        TRY(gpu_request_of(resolved, request, submitter, program.variables, report.notices));
    const auto& container = spec.runtime.container;
    if (!container || container->tree == model::Container::Tree::mounted)
        spec.runtime.shared_directory =
            (Path(expand(*target.native_shared_directory)) / key.id).native();
    program.tensorboard =
        request.tensorboard.empty() ? *configuration.tensorboard : request.tensorboard;
    if (!program.tensorboard.empty() && !executor::is_event_folder(program.tensorboard)) {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("the TensorBoard folder {} is not in the project's folder",
                              os::in_quotes(program.tensorboard)),
                  "Write it relative to the project's folder, such as 'logs/tb'."));
    }
    // Named in every project of 2017. Systems of today may only have python3: left out, both are
    // looked for.
    if (config::is_process_here(*target.type) && program.interpreter == "python")
        program.interpreter.clear();
    if (!is_preparation(spec)) spec.inputs = TRY(resolve_inputs(request, configuration, key.path));
    for (const auto& input : spec.inputs) {
        if (Path(program.script).lexically_normal() == Path(input.path) ||
            program.script.starts_with(input.path + "/")) {
            return tl::unexpected(Error(ErrorKind::invalid_argument,
                                        fmt::format("input '{}' takes the place of the script {}",
                                                    printable(input.path),
                                                    os::in_quotes(program.script)),
                                        "Choose another place: '--input PLACE=PATH'."));
        }
    }
    TRY(choose_program(report));
    TRY(give_names(report));
    TRY(check_named_files(request, report));
    TRY(choose_packages(request, submitter, resolved, report));
    TRY(check_interpreter(submitter, resolved, report));
    TRY(check_command(submitter, report));
    return report;
}

}  // namespace ponk::engine

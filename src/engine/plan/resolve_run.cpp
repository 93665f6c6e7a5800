// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/resolve_run.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/project/config_file.hpp"
#include "config/project/mlproject_use.hpp"
#include "config/project/project.hpp"
#include "engine/plan/choose_packages.hpp"
#include "engine/plan/choose_program.hpp"
#include "engine/plan/container_plan.hpp"
#include "engine/plan/gpu_plan.hpp"
#include "engine/plan/inputs.hpp"
#include "engine/plan/job_lines.hpp"
#include "engine/plan/plan_checks.hpp"
#include "engine/plan/resolve_program.hpp"
#include "engine/plan/script_names.hpp"
#include "engine/plan/spark_options.hpp"
#include "executor/events/event_files.hpp"
#include "os/variables.hpp"

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
        TRY(resolve_program(report, request, resolved, project, submitter));
    }
    TRY(resolve_framework(report, resolved));
    spec.location = TRY(location_of(target, submitter.environment));
    program.interactive = request.interactive;
    if (program.interactive &&
        (spec.location.kind != model::Location::Kind::here || spec.location.slurm)) {
        const auto& address = spec.location.host.address;
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("'--interactive' needs a target on this machine: '{}' is on {}, and what "
                        "is typed here does not reach it",
                        target.name,
                        address.empty() ? "a node of a cluster" : "'" + address + "'"),
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
    if (spec.location.slurm) {
        TRY(apply_job_lines(report));
        spec.resources.gpu = TRY(ask_slurm_for_gpus(resolved, request, *spec.location.slurm));
    } else {
        spec.resources.gpu =
            TRY(gpu_request_of(resolved, request, submitter, program.variables, report.notices));
    }
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
    if ((config::is_process_here(*target.type) || spec.location.slurm) &&
        program.interpreter == "python")
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
    TRY(check_interpreter(request, submitter, resolved, report));
    TRY(check_command(submitter, report));
    return report;
}

}  // namespace ponk::engine

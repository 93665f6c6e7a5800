// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_checks.hpp"

#include "base/text.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ponk::engine {

namespace {

Result<> require_file(const Path& project, const std::string& kind, const std::string& file)
{
    std::error_code problem;
    if (std::filesystem::is_regular_file(project / file, problem)) return {};
    const bool there = std::filesystem::exists(project / file, problem);
    return tl::unexpected(Error(
        there ? ErrorKind::invalid_argument : ErrorKind::not_found,
        fmt::format(
            "{} file {} {}", kind, os::in_quotes(file), there ? "is not a file" : "does not exist"),
        "Give a file of the project, relative to its folder."));
}

// The PATH that the run will have; nothing where its own variables decide.
std::optional<std::string> search_path(const Submitter& submitter, const RunSpec& spec)
{
    const auto is_path = [](const auto& variable) { return variable.first == "PATH"; };
    if (std::any_of(spec.program.variables.begin(), spec.program.variables.end(), is_path))
        return std::nullopt;
    auto path = os::variable(submitter.environment, "PATH");
    if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
    const auto& prefix = spec.environment.prefix;
    return prefix.empty() ? path : prefix + "/bin:" + path;
}

// Why this program cannot be started; empty: it can, or nobody knows yet.
std::string why_unusable(const std::string& program,
                         const Path& project,
                         const std::optional<std::string>& path)
{
    if (program.find('/') == std::string::npos)
        return !path || os::find_program(program, *path) ? "" : "is not on PATH";
    const Path file = project / program;  // an absolute one stays as it is
    if (os::find_program(file.string(), "")) return "";
    std::error_code problem;
    if (!std::filesystem::exists(file, problem)) return "does not exist";
    return std::filesystem::is_directory(file, problem) ? "is a folder" : "is not executable";
}

}  // namespace

Result<> check_named_files(const RunRequest& request, ResolvedRun& report)
{
    const RunSpec& spec = report.spec;
    if (!request.conda_dependencies.empty()) {
        TRY(require_file(report.project, "package", request.conda_dependencies));
    }
    if (!request.spark_dependencies.empty()) {
        TRY(require_file(report.project, "Spark dependencies", request.spark_dependencies));
        if (spec.program.framework != "PySpark" || !spec.program.command.empty())
            report.notices.push_back(fmt::format(
                "Spark dependencies file {} is not used: run configuration '{}' does not use Spark",
                os::in_quotes(request.spark_dependencies),
                printable(spec.run_configuration)));
    }
    return {};
}

Result<> check_interpreter(const RunRequest& request,
                           const Submitter& submitter,
                           const config::ResolvedConfiguration& resolved,
                           const ResolvedRun& report)
{
    const RunSpec& spec = report.spec;
    if (!config::is_process_here(*resolved.target.type) || spec.runtime.container ||
        spec.program.interpreter.empty() || !spec.program.command.empty()) {
        return {};
    }
    const auto why =
        why_unusable(spec.program.interpreter, report.project, search_path(submitter, spec));
    if (why.empty()) return {};
    if (!request.python.empty()) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("'--python {}': it {}", printable(shell_word(request.python)), why),
                  "Give the path of a Python program, or the name of one on PATH, such as "
                  "'python3.11'."));
    }
    const bool by_run = !resolved.run.interpreter_path->empty();
    const auto& given = by_run ? resolved.run.interpreter_path : resolved.target.python_location;
    return tl::unexpected(
        Error(ErrorKind::not_found,
              fmt::format("{}:{}:{}: python '{}' {}",
                          by_run ? resolved.run.file : resolved.target.file,
                          given.place.line,
                          given.place.column,
                          printable(*given),
                          why),
              fmt::format(
                  "Set '{}' to the path of a Python program, or remove it to use the one on PATH.",
                  by_run ? "interpreterPath" : "pythonLocation")));
}

Result<> check_command(const Submitter& submitter, const ResolvedRun& report)
{
    const RunSpec& spec = report.spec;
    if (spec.program.command.empty() || spec.location.kind != model::Location::Kind::here ||
        spec.runtime.container || !spec.environment.file.empty())
        return {};
    const auto& program = spec.program.command.front();
    const auto why = why_unusable(program, report.project, search_path(submitter, spec));
    if (why.empty()) return {};
    std::error_code problem;
    std::string hint = "Install it, or write its path.";
    if (program.find('/') == std::string::npos) {
        if (std::filesystem::is_regular_file(report.project / program, problem)) {
            hint = "A program of the project is named by its path: ./" + printable(program);
        } else if (Path(program).extension() == ".py") {
            hint = "A script must be a file of the project; there is no such file.";
        }
    }
    return tl::unexpected(
        Error(ErrorKind::not_found, fmt::format("program '{}' {}", printable(program), why), hint));
}

}  // namespace ponk::engine

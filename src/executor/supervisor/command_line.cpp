// SPDX-License-Identifier: Apache-2.0
#include "executor/supervisor/command_line.hpp"

#include "base/text.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace ponk::executor {

namespace {

std::string path_variable(const std::vector<std::string>& environment)
{
    auto path = os::variable(environment, "PATH");
    return path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path;
}

Error unusable(const std::string& interpreter, const Path& file)
{
    struct stat info {};
    const bool there = ::stat(file.c_str(), &info) == 0;
    const auto* why = !there                  ? "does not exist"
                      : S_ISDIR(info.st_mode) ? "is a folder"
                                              : "is not executable";
    return {there ? ErrorKind::invalid_argument : ErrorKind::not_found,
            fmt::format("python '{}' {}", printable(interpreter), why),
            "Set 'pythonLocation' of the target to the path of a Python program."};
}

// `pythonLocation` is a path, or a name to be looked up.
Result<Path>
given_interpreter(const std::string& interpreter, const Path& tree, const std::string& path)
{
    if (interpreter.find('/') != std::string::npos) {
        const auto file = Path(interpreter).is_absolute() ? Path(interpreter) : tree / interpreter;
        if (const auto found = os::find_program(file.string(), path)) return *found;
        return tl::unexpected(unusable(interpreter, file));
    }
    if (const auto found = os::find_program(interpreter, path)) return *found;
    return tl::unexpected(
        Error(ErrorKind::not_found,
              fmt::format("python '{}' is not on PATH", printable(interpreter)),
              "Set 'pythonLocation' of the target to the path of a Python program."));
}

// The spark-submit inside the interpreter's own pyspark package.
Result<std::optional<Path>> packaged_spark_submit(const Path& interpreter,
                                                  const std::vector<std::string>& environment,
                                                  std::stop_token stop)
{
    static constexpr auto* question =
        "import importlib.util,os\n"
        "s=importlib.util.find_spec('pyspark')\n"
        "print(os.path.join(list(s.submodule_search_locations)[0],'bin','spark-submit') "
        "if s and s.submodule_search_locations else '')";
    // It must see the packages that the script sees (PYTHONPATH, the user's own), but no file of a
    // folder that we happen to be in.
    const auto answer = TRY(os::run(
        {.argv = {interpreter.string(), "-c", question}, .env = environment, .directory = "/"},
        after(std::chrono::seconds(30)),
        stop));
    const std::string file(trim(answer.out));
    if (answer.exit.status() != 0 || file.empty() || ::access(file.c_str(), X_OK) != 0)
        return std::nullopt;
    return Path(file);
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more)
{
    words.insert(words.end(), more.begin(), more.end());
}

Result<CommandLine> spark_command_line(const Job& job,
                                       const Path& interpreter,
                                       const std::vector<std::string>& environment,
                                       std::stop_token stop)
{
    auto submit = os::find_program("spark-submit", path_variable(environment));
    if (!submit) submit = TRY(packaged_spark_submit(interpreter, environment, stop));
    if (!submit) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("'spark-submit' is not on PATH and {} has no package 'pyspark'",
                              os::in_quotes(interpreter)),
                  fmt::format(
                      "Install it ({} -m pip install pyspark; it needs Java), or write 'Framework: "
                      "Python' in the run configuration if the script does not use Spark.",
                      shell_word(interpreter.string()))));
    }
    CommandLine line{*submit, {submit->string()}, {}};
    append(line.argv, job.spec.program.spark_options);
    append(line.argv, script_words(job));
    line.variables.emplace_back("PYSPARK_PYTHON", interpreter.string());
    line.variables.emplace_back("PYSPARK_DRIVER_PYTHON", interpreter.string());
    return line;
}

// Words to execute as they are; the first is a path in the tree or a name on PATH.
Result<CommandLine> own_command(const Job& job, const Path& tree, const std::string& path)
{
    const auto& name = job.spec.program.command.front();
    const bool is_path = name.find('/') != std::string::npos;
    const auto file = is_path ? (tree / job.spec.program.folder / name).string() : name;
    const auto program = os::find_program(file, path);
    if (!program) {
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  fmt::format("program '{}' is {}",
                              printable(name),
                              is_path ? "missing or not executable" : "not on PATH"),
                  "Install it, or write its path."));
    }
    return CommandLine{*program, job.spec.program.command, {}};
}

}  // namespace

Result<> check_script(const Job& job, const Path& tree)
{
    struct stat info {};
    const auto name = Path(job.spec.program.script).lexically_normal();
    const bool inside = !name.empty() && name.is_relative() && *name.begin() != "..";
    if (inside && ::stat((tree / name).c_str(), &info) == 0 && S_ISREG(info.st_mode)) return {};
    return tl::unexpected(
        Error(ErrorKind::not_found,
              fmt::format("script '{}' is not in the project", printable(job.spec.program.script)),
              "Give a file of the project, relative to its folder, that no ignore file excludes."));
}

std::vector<std::string> script_words(const Job& job)
{
    const auto& program = job.spec.program;
    if (!program.module.empty()) return {"-m", program.module};
    auto script = script_as_started(program);
    if (lower(Path(script).extension().native()) == model::notebook_extension)
        return {"-m", "ponk_notebook", std::move(script)};
    return {std::move(script)};
}

Result<Path>
find_interpreter(const Job& job, const Path& tree, const std::vector<std::string>& environment)
{
    const auto path = path_variable(environment);
    if (!job.spec.program.interpreter.empty())
        return given_interpreter(job.spec.program.interpreter, tree, path);
    for (const auto* name : {"python", "python3"}) {
        if (const auto found = os::find_program(name, path)) return *found;
    }
    return tl::unexpected(
        Error(ErrorKind::not_found,
              "neither 'python' nor 'python3' is on PATH",
              "Install Python, or set 'pythonLocation' of the target to its path."));
}

Result<CommandLine> command_line(const Job& job,
                                 const Path& tree,
                                 const std::vector<std::string>& environment,
                                 std::stop_token stop)
{
    if (!job.spec.program.command.empty())
        return own_command(job, tree, path_variable(environment));
    if (job.spec.program.module.empty()) TRY(check_script(job, tree));
    const auto interpreter = TRY(find_interpreter(job, tree, environment));
    CommandLine line;
    if (same_ignoring_case(job.spec.program.framework, "PySpark")) {
        line = TRY(spark_command_line(job, interpreter, environment, stop));
    } else if (same_ignoring_case(job.spec.program.framework, "Python") ||
               job.spec.program.framework.empty()) {
        line = {interpreter, {interpreter.string()}, {}};
        append(line.argv, script_words(job));
    } else {
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  fmt::format("unknown framework '{}'", printable(job.spec.program.framework)),
                  "Write 'Framework: Python' or 'Framework: PySpark'."));
    }
    append(line.argv, job.spec.program.arguments);
    return line;
}

}  // namespace ponk::executor

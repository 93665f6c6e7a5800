// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/choose_packages.hpp"

#include "base/text.hpp"
#include "config/files/run_configuration_reading.hpp"
#include "config/packages/package_file.hpp"
#include "config/project/config_file.hpp"
#include "os/contained_path.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ponk::engine {

namespace {

using Environment = model::EnvironmentSpec;

class PackageChoice {
public:
    PackageChoice(const RunRequest& request,
                  const Submitter& submitter,
                  const config::ResolvedConfiguration& resolved,
                  ResolvedRun& run)
        : request_(request), submitter_(submitter), configuration_(resolved.run),
          target_(resolved.target), resolved_(resolved), run_(run),
          environment_(run.spec.environment)
    {
    }

    Result<> make()
    {
        const bool managed = config::builds_environment(configuration_, target_);
        if (TRY(take_from_command_line()) || TRY(take_from_configuration(managed))) return {};
        if (TRY(take_from_mlproject())) return {};
        if (take_from_script() || take_own_environment()) return {};
        if (uses_files()) {
            for (const auto* name : config::package_files)
                if (take_file(name)) return {};
        }
        if (managed && TRY(take_conda_file(config::default_conda_file))) return {};
        if (uses_files() && take_file(config::requirements_file)) return {};
        take_what_is_there();
        return {};
    }

    // Where the configuration leaves packages to the user: which file nobody installs.
    void note_unused_file()
    {
        const bool chosen =
            !environment_.file.empty() || !environment_.prefix.empty() || !request_.python.empty();
        if (chosen || (resolved_.mlproject && resolved_.mlproject->docker_image.given())) return;
        const auto file = unused_file();
        if (file.empty()) return;
        // Who says so decides where the word that changes it belongs.
        const bool by_target = *target_.user_managed_environment;
        const bool is_built_in = configuration_.schema == config::RunSchema::built_in;
        const std::string_view word = by_target ? "userManagedEnvironment: false"
                                      : configuration_.schema == config::RunSchema::nested_2018
                                          ? "userManagedDependencies: false"
                                          : "ManagedEnvironment: true";
        const std::string place = by_target     ? os::in_quotes(target_.file)
                                  : is_built_in ? "a run configuration"
                                                : os::in_quotes(configuration_.file);
        run_.notices.push_back(
            fmt::format("{} is not used: on target '{}' the script uses the packages of its Python "
                        "('{}' in {} installs those of the file, '-d {}' does so for one run)",
                        os::in_quotes(file),
                        printable(run_.spec.location.target),
                        word,
                        place,
                        shell_word(file)));
    }

private:
    [[nodiscard]] bool is_here() const
    {
        return config::is_process_here(*target_.type) && !run_.spec.runtime.container;
    }

    // A target whose packages are the user's business gets none of ours; neither does a project of
    // 2017 that runs in the user's own Python, as it did, unless it requests a managed environment.
    [[nodiscard]] bool uses_files() const
    {
        const auto& by_user = configuration_.user_managed_dependencies;
        if (*by_user || *target_.user_managed_environment) return false;
        return !is_here() || configuration_.schema != config::RunSchema::flat_2017 ||
               by_user.given();
    }

    Result<bool> take_from_command_line()
    {
        if (!request_.python.empty()) {
            auto& interpreter = run_.spec.program.interpreter;
            interpreter = request_.python;
            const bool relative =
                interpreter.find('/') != interpreter.npos && !Path(interpreter).is_absolute();
            if (is_here() && relative) interpreter = (run_.project / interpreter).native();
            environment_.choice = "the option '--python'";
            return true;
        }
        if (request_.conda_dependencies.empty()) return false;
        TRY(take_conda_file(request_.conda_dependencies));
        environment_.choice =
            fmt::format("the option '--conda-dependencies' names {}", environment_.file);
        return true;
    }

    Result<bool> take_from_configuration(bool managed)
    {
        const auto& file = configuration_.conda_dependencies_file;
        const auto named = fmt::format("run configuration '{}'", run_.spec.run_configuration);
        if (managed && file.given() && TRY(take_conda_file(*file))) {
            environment_.choice = fmt::format("{} names {}", named, environment_.file);
            return true;
        }
        if (!run_.spec.program.interpreter.empty()) {
            const bool by_run = !configuration_.interpreter_path->empty();
            environment_.choice =
                by_run ? named + " names this Python"
                       : fmt::format("target '{}' names this Python", run_.spec.location.target);
            // A managed environment stands on that Python.
            return !managed && !uses_files();
        }
        return false;
    }

    // For an entry point, as 'mlflow run' does: the file that MLproject names, else one of the
    // names that it looks for.
    Result<bool> take_from_mlproject()
    {
        if (!resolved_.mlproject || !uses_files() || resolved_.mlproject->docker_image.given())
            return false;
        const auto& mlproject = *resolved_.mlproject;
        for (const auto& [key, file] : {std::pair("conda_env", &mlproject.conda_env),
                                        std::pair("python_env", &mlproject.python_env)}) {
            if (!file->given()) continue;
            const auto place = fmt::format(
                "{}:{}:{}: {}", mlproject.file, file->place.line, file->place.column, key);
            TRY(take_conda_file(**file).map_error(while_doing("{}", place)));
            environment_.choice = fmt::format("{} names {}", mlproject.file, environment_.file);
            return true;
        }
        return take_file("python_env.yaml") || take_file("conda.yaml");
    }

    bool take_from_script()
    {
        const auto& program = run_.spec.program;
        if (!program.command.empty() || !program.module.empty() || is_preparation(run_.spec) ||
            !config::names_packages(run_.project, program.script) ||
            !Path(program.script).extension().native().starts_with(".py"))
            return false;
        environment_.file = program.script;
        environment_.choice = "the script names its packages";
        return true;
    }

    bool take_own_environment()
    {
        if (!is_here() || !run_.spec.program.interpreter.empty()) return false;
        const auto active = os::variable(submitter_.environment, "VIRTUAL_ENV");
        if (const auto own = run_.project / ".venv"; is_environment(own)) {
            take_prefix(own, "'.venv' of the project");
            std::error_code problem;
            if (!active.empty() && !std::filesystem::equivalent(active, own, problem))
                run_.notices.push_back(fmt::format(
                    "the active environment {} is not used: the project has '.venv' (choose with "
                    "'--python')",
                    os::in_quotes(active)));
            return true;
        }
        note_broken_environment();
        if (!active.empty() && is_environment(active)) {
            take_prefix(active, "the active environment");
            return true;
        }
        const auto conda = os::variable(submitter_.environment, "CONDA_PREFIX");
        if (conda.empty() || os::variable(submitter_.environment, "CONDA_DEFAULT_ENV") == "base")
            return false;
        environment_.choice = "the active conda environment";
        return true;
    }

    static bool is_environment(const Path& folder)
    {
        std::error_code problem;
        return std::filesystem::exists(folder / "pyvenv.cfg", problem) &&
               os::find_program((folder / "bin" / "python").native(), "").has_value();
    }

    // Moved from another machine, or its Python was removed.
    void note_broken_environment()
    {
        std::error_code problem;
        if (!std::filesystem::exists(run_.project / ".venv" / "pyvenv.cfg", problem)) return;
        run_.notices.push_back(fmt::format(
            "'.venv' of the project is not used: '.venv/bin/python' does not start a Python\n  "
            "Make "
            "it again ('uv venv --clear', or 'python3 -m venv --clear .venv'), or choose with "
            "'--python'."));
    }

    void take_prefix(const Path& folder, std::string choice)
    {
        environment_.prefix = folder.native();
        environment_.choice = std::move(choice);
        run_.spec.program.interpreter = (folder / "bin" / "python").native();
    }

    bool take_file(const std::string& name)
    {
        if (!config::names_packages(run_.project, name)) return false;
        environment_.file = name;
        environment_.choice = "the project has " + name;
        return true;
    }

    // A file that was named must be there; the one that everybody has need not.
    Result<bool> take_conda_file(const std::string& file)
    {
        if (file.empty()) return false;
        if (std::filesystem::is_regular_file(run_.project / file)) {
            const auto inside = os::contained_path(run_.project, file);
            if (!inside) {
                return tl::unexpected(
                    Error(ErrorKind::invalid_argument,
                          "conda file " + inside.error().message(),
                          "ponk stores the file with the run: copy it into the project."));
            }
            environment_.file = inside->lexically_relative(run_.project).native();
            environment_.choice = "the project has " + environment_.file;
            return true;
        }
        // With a name that is no file, the run would silently do without the packages it needs.
        if (config::has_name(run_.project / file)) {
            return tl::unexpected(
                Error(ErrorKind::invalid_argument,
                      "conda file " + os::in_quotes(file) + " is not a readable file",
                      "Run 'ponk check' for details."));
        }
        // Every run configuration names the usual one, in projects without packages too.
        if (file == config::default_conda_file) return false;
        return tl::unexpected(Error(ErrorKind::not_found,
                                    "conda file " + os::in_quotes(file) + " does not exist",
                                    "Give a file of the project, relative to its folder."));
    }

    void take_what_is_there()
    {
        if (!environment_.choice.empty()) return;
        environment_.choice = run_.spec.runtime.container ? "those of the image"
                              : is_here()                 ? "the Python on PATH"
                                                          : "the Python on PATH of the host";
        if (is_here() && configuration_.user_managed_dependencies.given() &&
            !*configuration_.user_managed_dependencies)
            run_.notices.push_back(
                fmt::format("'{}' requests a managed environment, but the project has no file that "
                            "names packages: those of your own Python are used",
                            configuration_.file));
    }

    // The first file whose packages would be installed, if they were not the user's affair.
    [[nodiscard]] std::string unused_file() const
    {
        std::error_code problem;
        const auto is_there = [&](const std::string& name) {
            return !name.empty() && std::filesystem::is_regular_file(run_.project / name, problem);
        };
        const auto is_unused = [&](const std::string& name) {
            return !uses_files() && is_there(name) && lists_packages(name);
        };
        for (const auto* name : config::package_files)
            if (is_unused(name)) return name;
        const std::string conda = configuration_.schema == config::RunSchema::built_in
                                      ? std::string(config::default_conda_file)
                                      : *configuration_.conda_dependencies_file;
        if (is_there(conda) && (is_preparation(run_.spec) || lists_packages(conda))) return conda;
        return is_unused(config::requirements_file) ? config::requirements_file : "";
    }

    // More than Python and what comes with it; a file that cannot be read is reported elsewhere.
    [[nodiscard]] bool lists_packages(const std::string& file) const
    {
        config::Report report(file);
        const auto read = config::read_package_file(run_.project, file, report);
        if (!read) return false;
        const auto plain = [](const config::Package& package) {
            return package.name == "python" || package.name == "pip" ||
                   package.name == "setuptools" || package.name == "wheel";
        };
        return !read->pip.empty() || !std::ranges::all_of(read->conda, plain);
    }

    const RunRequest& request_;
    const Submitter& submitter_;
    const config::RunConfiguration& configuration_;
    const config::ComputeTarget& target_;
    const config::ResolvedConfiguration& resolved_;
    ResolvedRun& run_;
    Environment& environment_;
};

}  // namespace

Result<> choose_packages(const RunRequest& request,
                         const Submitter& submitter,
                         const config::ResolvedConfiguration& resolved,
                         ResolvedRun& run)
{
    auto& environment = run.spec.environment;
    if (request.substitute) environment.substitutions = Environment::Substitutions::known;
    // Who asks for a preparation wants it built, whatever runs do.
    if (!*resolved.run.prepare_environment && !is_preparation(run.spec))
        environment.missing = Environment::Missing::refuse;
    PackageChoice choice(request, submitter, resolved, run);
    TRY(choice.make());
    choice.note_unused_file();
    // What people write may have mistakes; a lock is long, and a program wrote it.
    if (!environment.file.empty() && Path(environment.file).extension() != ".lock") {
        config::Report report(environment.file);
        static_cast<void>(config::read_package_file(run.project, environment.file, report));
        if (report.has_errors()) return tl::unexpected(config::to_error(report.take()));
    }
    environment.import_folder = config::own_modules(run.project).value_or("");
    return {};
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/tools.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "environment/spec/python_version.hpp"
#include "os/identity.hpp"
#include "os/process.hpp"

#include <algorithm>

namespace ponk::environment {

using namespace std::chrono_literals;

namespace {

constexpr auto answer_limit = 20s;
constexpr const char* oldest_for_rattler = "3.10";

constexpr const char* question =
    "import json, os, platform, sys\n"
    "try:\n"
    "    import venv, ensurepip\n"
    "    able = True\n"
    "except ImportError:\n"
    "    able = False\n"
    "print(json.dumps({'name': platform.python_implementation().lower(), 'venv': able,\n"
    "    'version': '%d.%d.%d' % sys.version_info[:3],\n"
    "    'real': os.path.realpath(sys.executable)}))\n";

std::string search_path(const Settings& settings)
{
    const auto path = variable(settings.environment, "PATH");
    return path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path;
}

// "3.6" in "=3.6.2", ">=3.6,<4".
std::string series_in(std::string_view constraint)
{
    const auto begin = constraint.find_first_of("0123456789");
    if (begin == std::string_view::npos) return {};
    const auto number = constraint.substr(begin);
    const auto parts = split(number.substr(0, number.find_first_not_of("0123456789.")), '.');
    return parts.size() > 1 && !parts[1].empty() ? parts[0] + "." + parts[1] : std::string();
}

Builder builder_of(const Path& program)
{
    const auto name = program.filename().string();
    for (const auto builder : {Builder::micromamba, Builder::mamba, Builder::pixi})
        if (name.starts_with(to_string(builder))) return builder;
    return Builder::conda;
}

// pip's options that uv knows too.
bool uv_understands(const PipLine& line)
{
    if (!line.is_option) return true;
    return is_option(line.text, "--index-url", "-i") ||
           is_option(line.text, "--find-links", "-f") ||
           is_option(line.text, "--extra-index-url", "--extra-index-url") ||
           is_option(line.text, "--no-index", "--no-index") ||
           is_option(line.text, "--no-binary", "--no-binary") ||
           is_option(line.text, "--only-binary", "--only-binary");
}

std::string names_of(const std::vector<Python>& pythons)
{
    std::vector<std::string> texts;
    for (const auto& python : pythons)
        texts.push_back(fmt::format("{} ({})", python.program.string(), python.version));
    return texts.empty() ? "none" : join(texts, ", ");
}

BuildPlan plan_venv(const PackageRequest& packages, const Python& python, const Settings& settings)
{
    BuildPlan plan;
    plan.python = python;
    const auto fit = fmt::format("only Python and pip packages are required, and {} is {}",
                                 python.program.string(),
                                 python.version);
    const auto uv = os::find_program("uv", search_path(settings));
    const auto strange = std::find_if_not(packages.pip.begin(),
                                          packages.pip.end(),
                                          [](const PipLine& line) { return uv_understands(line); });
    if (uv && (strange == packages.pip.end() || !python.has_venv)) {
        plan.builder = Builder::uv;
        plan.program = *uv;
        plan.reason = fit;
    } else if (uv) {
        plan.reason = fmt::format(
            "{}; pip is used, because '{}' works only with pip", fit, strange->text.substr(0, 40));
    } else {
        plan.reason = fit + "; uv is not installed";
    }
    return plan;
}

}  // namespace

std::string Python::identity() const
{
    return fmt::format("{} {} {}", name, version, real.string());
}

std::optional<Python>
ask_python(const Path& program, const Settings& settings, std::stop_token stop)
{
    const auto output = os::run({.argv = {program.string(), "-I", "-c", question},
                                 .env = installer_environment(settings),
                                 .directory = "/"},
                                after(answer_limit),
                                std::move(stop));
    if (!output || output->exit.status() != 0) return std::nullopt;
    const auto answer = parse_json(trim(output->out));
    if (!answer || answer->text("version").empty()) return std::nullopt;
    return Python{.program = program,
                  .real = answer->text("real"),
                  .name = answer->text("name"),
                  .version = answer->text("version"),
                  .has_venv = answer->boolean("venv")};
}

std::vector<Python> find_pythons(const std::string& named,
                                 const std::string& constraint,
                                 const std::function<bool(const Python&)>& enough,
                                 const Settings& settings,
                                 std::stop_token stop)
{
    std::vector<std::string> names;
    if (!named.empty() && named != "python") {
        names = {named.starts_with("~/") ? (os::home_directory() / named.substr(2)).string()
                                         : named};
    } else {
        if (const auto series = series_in(constraint); !series.empty())
            names.push_back("python" + series);
        names.insert(names.end(), {"python", "python3"});
    }
    std::vector<Python> found;
    for (const auto& name : names) {
        const auto program = os::find_program(name, search_path(settings));
        if (!program) continue;
        auto python = ask_python(*program, settings, stop);
        if (!python) continue;
        const bool known = std::any_of(found.begin(), found.end(), [&python](const Python& other) {
            return other.real == python->real;
        });
        if (!known) found.push_back(std::move(*python));
        if (!known && enough(found.back())) break;
    }
    return found;
}

const char* to_string(Builder builder)
{
    switch (builder) {
    case Builder::uv:
        return "uv";
    case Builder::venv:
        return "venv";
    case Builder::micromamba:
        return "micromamba";
    case Builder::mamba:
        return "mamba";
    case Builder::conda:
        return "conda";
    case Builder::pixi:
        return "pixi";
    case Builder::rattler:
        return "rattler";
    }
    return "venv";
}

bool is_conda_like(Builder builder)
{
    return builder != Builder::uv && builder != Builder::venv;
}

std::optional<CondaTool> find_conda_tool(const Settings& settings)
{
    const auto path = search_path(settings);
    for (const auto& name : {settings.conda_program,
                             variable(settings.environment, "MAMBA_EXE"),
                             variable(settings.environment, "CONDA_EXE"),
                             std::string("micromamba"),
                             std::string("mamba"),
                             std::string("conda"),
                             std::string("pixi")}) {
        if (name.empty() || name.find("://") != std::string::npos) continue;
        if (const auto program = os::find_program(name, path))
            return CondaTool{builder_of(*program), *program};
    }
    return std::nullopt;
}

Result<BuildPlan> choose_builder(const PackageRequest& packages,
                                 const std::string& named_python,
                                 const Settings& settings,
                                 std::stop_token stop)
{
    const bool uv = os::find_program("uv", search_path(settings)).has_value();
    const auto serves = [&](const Python& python) {
        return fits(python.version, packages.python) && (python.has_venv || uv);
    };
    std::vector<Python> pythons;
    if (!packages.needs_conda()) {
        pythons = find_pythons(named_python, packages.python, serves, settings, stop);
        if (!pythons.empty() && serves(pythons.back()))
            return plan_venv(packages, pythons.back(), settings);
    }
    BuildPlan plan;
    plan.reason = packages.needs_conda()
                      ? fmt::format("conda packages are required ('{}')", packages.conda.front())
                      : fmt::format("Python '{}' is required; available: {}",
                                    packages.python.empty() ? "any with venv" : packages.python,
                                    names_of(pythons));
    const bool fetched = settings.conda_program.find("://") != std::string::npos;
    if (const auto tool = find_conda_tool(settings); tool && !fetched) {
        plan.builder = tool->builder;
        plan.program = tool->program;
        plan.reason += fmt::format("; {} is {}", to_string(tool->builder), tool->program.string());
        return plan;
    }
    const auto carries = [](const Python& python) {
        return python.has_venv && compare_releases(python.version, oldest_for_rattler) >= 0;
    };
    const auto carriers = find_pythons({}, {}, carries, settings, stop);
    if (!carriers.empty() && carries(carriers.back())) {
        plan.python = carriers.back();
        if (fetched) {
            plan.builder = Builder::conda;
            plan.address = settings.conda_program;
            plan.reason += "; PONK_CONDA sets the conda tool";
            return plan;
        }
        plan.builder = Builder::rattler;
        plan.reason += "; no conda tool is on PATH, so py-rattler is used";
        return plan;
    }
    return tl::unexpected(
        Error(ErrorKind::unavailable,
              fmt::format("{}, but no tool here can install conda packages", plan.reason),
              fmt::format("Install micromamba or conda and put it on PATH (or set PONK_CONDA to "
                          "its path), or install Python {} or newer with its venv module.",
                          oldest_for_rattler)));
}

}  // namespace ponk::environment

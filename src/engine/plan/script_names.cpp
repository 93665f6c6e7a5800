// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/script_names.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ponk::engine {

namespace {

constexpr std::uint64_t longest_script = std::uint64_t{1} << 20;

bool is_script(const ResolvedRun& run)
{
    const auto& program = run.spec.program;
    return program.command.empty() && program.module.empty() && !is_preparation(run.spec);
}

bool is_notebook(const model::Program& program)
{
    return lower(Path(program.script).extension().native()) == model::notebook_extension;
}

}  // namespace

std::optional<config::ScriptFiles> files_of_script(const ResolvedRun& run)
{
    if (!is_script(run)) return std::nullopt;
    auto files = config::read_script_files(run.project, run.spec.program.script);
    if (!files) return std::nullopt;
    return std::move(*files);
}

Result<> give_names(ResolvedRun& run)
{
    std::error_code problem;
    if (!std::filesystem::is_directory(run.project / "aml_config", problem)) return {};
    auto& program = run.spec.program;
    if (!is_script(run) || is_notebook(program)) return {};
    const auto file = os::open_regular(run.project / program.script, os::Links::follow);
    if (!file) return {};
    auto names = config::python_names(TRY(os::read_at(file->get(), 0, longest_script)));
    if (names.missing.empty()) return {};
    program.given_names = std::move(names.missing);
    const bool several = program.given_names.size() > 1;
    run.notices.push_back(fmt::format(
        "script {} uses '{}' without importing {}: {} defined for it, as in Azure ML Workbench\n"
        "  Add the line 'import {}'.",
        os::in_quotes(program.script),
        join(program.given_names, "' and '"),
        several ? "them" : "it",
        several ? "they are" : "it is",
        join(program.given_names, ", ")));
    return {};
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/preparation_part.hpp"

#include "config/packages/package_file.hpp"
#include "environment/spec/package_request.hpp"

namespace ponk::engine {

std::optional<std::string> part_for_preparation(const Path& project, const RunSpec& spec)
{
    const bool own_python = spec.program.interpreter.find('/') != std::string::npos &&
                            !Path(spec.program.interpreter).is_absolute();
    if (own_python) return std::nullopt;
    if (spec.environment.file.empty()) return std::string();
    config::Report report(spec.environment.file);
    const auto packages = config::read_package_file(project, spec.environment.file, report);
    if (!packages) return spec.environment.file;
    if (environment::names_files(*packages)) return std::nullopt;
    return spec.environment.file;
}

}  // namespace ponk::engine

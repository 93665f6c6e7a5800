// SPDX-License-Identifier: Apache-2.0
#include "engine/run/preparation_part.hpp"

#include "config/files/conda.hpp"
#include "config/project/config_file.hpp"
#include "environment/spec/package_request.hpp"

namespace ponk::engine {

std::optional<std::string> part_for_preparation(const Path& project, const Plan& plan)
{
    const bool own_python =
        plan.interpreter.find('/') != std::string::npos && !Path(plan.interpreter).is_absolute();
    if (own_python) return std::nullopt;
    if (plan.conda_file.empty()) return std::string();
    config::Report report(plan.conda_file);
    const auto root = config::load_document(project / plan.conda_file, report);
    if (!root) return plan.conda_file;
    const auto conda = config::read_conda(*root, report);
    if (environment::names_files(conda)) return std::nullopt;
    return plan.conda_file;
}

}  // namespace ponk::engine

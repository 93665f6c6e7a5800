// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/spark_options.hpp"

#include "base/text.hpp"
#include "config/files/spark.hpp"
#include "config/project/config_file.hpp"
#include "config/text/document.hpp"

namespace ponk::engine {

namespace {

std::vector<std::string> words_of(const config::SparkDependencies& spark)
{
    std::vector<std::string> words;
    for (const auto& property : spark.configuration) {
        words.emplace_back("--conf");
        words.push_back(property.name + "=" + property.value);
    }
    std::vector<std::string> repositories;
    for (const auto& repository : spark.repositories)
        repositories.push_back(*repository);
    std::vector<std::string> packages;
    for (const auto& package : spark.packages)
        packages.push_back(package.coordinate());
    if (!packages.empty()) {
        words.emplace_back("--packages");
        words.push_back(join(packages, ","));
        if (!repositories.empty()) {
            words.emplace_back("--repositories");
            words.push_back(join(repositories, ","));
        }
    }
    return words;
}

}  // namespace

Result<std::vector<std::string>> spark_options(const os::Path& project,
                                               const config::RunConfiguration& configuration,
                                               const std::string& override_file)
{
    if (override_file.empty() && configuration.spark) return words_of(*configuration.spark);
    const auto& named = configuration.spark_dependencies_file;
    const auto name = override_file.empty() ? *named : override_file;
    if (name.empty()) return std::vector<std::string>();
    const auto text = TRY(os::read_file_if_any(project / name));
    if (!text) {
        if (override_file.empty() && !named.given() && !config::has_name(project / name))
            return std::vector<std::string>();
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  "Spark dependencies file '" + printable(name) + "' does not exist",
                  "Create it, or remove its name from the run configuration."));
    }
    config::Report report(name);
    const auto root = config::read_document(*text, report);
    config::SparkDependencies spark;
    if (root) spark = config::read_spark(*root, report);
    if (report.has_errors()) return tl::unexpected(config::to_error(report.diagnostics()));
    return words_of(spark);
}

}  // namespace ponk::engine

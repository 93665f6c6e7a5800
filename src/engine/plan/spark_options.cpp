// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/spark_options.hpp"

#include "base/text.hpp"
#include "config/files/retired.hpp"
#include "config/files/spark.hpp"
#include "config/project/config_file.hpp"
#include "engine/plan/script_names.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

// The coordinates that Spark is asked for.
std::vector<std::string>
packages_of(const config::SparkDependencies& spark, const RunRequest& request, ResolvedRun& run)
{
    std::vector<std::string> packages;
    std::optional<config::ScriptFiles> files;
    for (const auto& package : spark.packages) {
        const auto coordinate = package.coordinate();
        const auto* const gone = config::find_retired_spark_package(coordinate);
        if (gone == nullptr) {
            packages.push_back(coordinate);
            continue;
        }
        if (!files) files = files_of_script(run);
        // What cannot be read may import anything.
        const bool needed =
            !gone->module.empty() && (!files || config::imports_package(*files, gone->module));
        const auto about =
            fmt::format("the Spark package '{}' {}", printable(coordinate), gone->what);
        if (!needed) {
            run.notices.push_back(about + ": it is left out, as nothing in the script imports it");
        } else if (request.substitute && !gone->substitute.empty()) {
            packages.emplace_back(gone->substitute);
            run.notices.push_back(fmt::format("{}: '{}' is used instead", about, gone->substitute));
        } else {
            packages.push_back(coordinate);
            run.notices.push_back(fmt::format(
                "{}; {} ('{}')\n  {}",
                about,
                is_preparation(run.spec) ? "only a run whose script imports it gets it"
                                         : "the script needs it",
                gone->module,
                gone->substitute.empty()
                    ? std::string(gone->instead)
                    : fmt::format("Submit with '--substitute' to use '{}'.", gone->substitute)));
        }
    }
    return packages;
}

std::vector<std::string>
words_of(const config::SparkDependencies& spark, const RunRequest& request, ResolvedRun& run)
{
    std::vector<std::string> words;
    for (const auto& property : spark.configuration) {
        words.emplace_back("--conf");
        words.push_back(property.name + "=" + property.value);
    }
    const auto packages = packages_of(spark, request, run);
    if (packages.empty()) return words;
    words.emplace_back("--packages");
    words.push_back(join(packages, ","));
    std::vector<std::string> repositories;
    for (const auto& repository : spark.repositories) {
        if (const auto* const gone = config::find_retired_host(*repository)) {
            run.notices.push_back(fmt::format(
                "the repository '{}' {}: it is left out", printable(*repository), gone->what));
        } else {
            repositories.push_back(*repository);
        }
    }
    if (!repositories.empty()) {
        words.emplace_back("--repositories");
        words.push_back(join(repositories, ","));
    }
    return words;
}

}  // namespace

Result<std::vector<std::string>> spark_options(const RunRequest& request,
                                               const config::RunConfiguration& configuration,
                                               ResolvedRun& run)
{
    const auto& project = run.project;
    const auto& override_file = request.spark_dependencies;
    if (override_file.empty() && configuration.spark)
        return words_of(*configuration.spark, request, run);
    const auto& named = configuration.spark_dependencies_file;
    const auto name = override_file.empty() ? *named : override_file;
    if (name.empty()) return std::vector<std::string>();
    if (!config::has_name(project / name)) {
        if (override_file.empty() && !named.given()) return std::vector<std::string>();
        return tl::unexpected(
            Error(ErrorKind::not_found,
                  "Spark dependencies file '" + printable(name) + "' does not exist",
                  "Create it, or remove its name from the run configuration."));
    }
    config::Report report(name);
    const auto root = config::load_document(project, name, report);
    config::SparkDependencies spark;
    if (root) spark = config::read_spark(*root, report);
    if (report.has_errors()) return tl::unexpected(config::to_error(report.diagnostics()));
    return words_of(spark, request, run);
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "config/files/spark.hpp"

#include "base/text.hpp"
#include "config/files/retired.hpp"
#include "config/schema/schemas.hpp"

namespace ponk::config {

std::string SparkPackage::coordinate() const
{
    return fmt::format("{}:{}:{}", *group, *artifact, *version);
}

namespace {

void read_package(const Node& item, SparkDependencies& spark, Report& report)
{
    if (!item.is_map()) return;
    const SectionReader reader(&item);
    SparkPackage package;
    reader.read("group", package.group);
    reader.read("artifact", package.artifact);
    reader.read("version", package.version);
    for (const auto& [key, value] : {std::pair("group", &package.group),
                                     {"artifact", &package.artifact},
                                     {"version", &package.version}}) {
        if (value->given() && !(*value)->empty()) continue;
        report.error(item.place,
                     "missing-key",
                     fmt::format("this Spark package has no '{}'", key),
                     "A package needs 'group', 'artifact' and 'version'.");
    }
    if (const auto* gone = find_retired_spark_package(package.coordinate())) {
        report.notice(package.group.place,
                      "package-gone",
                      fmt::format("the Spark package '{}' {}", package.coordinate(), gone->what),
                      std::string(gone->instead));
    }
    spark.packages.push_back(std::move(package));
}

}  // namespace

void read_spark_sections(const SectionReader& reader, SparkDependencies& spark, Report& report)
{
    reader.read("repositories", spark.repositories);
    reader.read("precachePackages", spark.precache_packages);
    for (const auto& repository : spark.repositories) {
        if (const auto* gone = find_retired_host(*repository)) {
            report.notice(repository.place,
                          "url-gone",
                          fmt::format("the repository '{}' {}", gone->name, gone->what),
                          std::string(gone->instead));
        }
    }
    if (const Node* packages = reader.find("packages");
        packages != nullptr && packages->is_list()) {
        for (const auto& item : packages->items)
            read_package(item, spark, report);
    }
    read_spark_properties(reader, spark);
}

void read_spark_properties(const SectionReader& reader, SparkDependencies& spark)
{
    const Node* configuration = reader.find("configuration");
    if (configuration == nullptr || !configuration->is_map()) return;
    for (const auto& member : configuration->members) {
        if (!member.value.is_scalar()) continue;
        spark.configuration.push_back({member.key, member.value.text, member.place});
    }
}

SparkDependencies read_spark(const Node& root, Report& report)
{
    SparkDependencies spark;
    check_against(spark_schema(), root, report);
    read_spark_sections(SectionReader(&root), spark, report);
    return spark;
}

Json meaning_of(const SparkDependencies& spark)
{
    JsonObject configuration;
    for (const auto& property : spark.configuration)
        configuration.set(property.name, property.value);
    JsonArray repositories;
    for (const auto& repository : spark.repositories)
        repositories.push_back(*repository);
    JsonArray packages;
    for (const auto& package : spark.packages) {
        packages.push_back(JsonObject{{"group", *package.group},
                                      {"artifact", *package.artifact},
                                      {"version", *package.version}});
    }
    return JsonObject{
        {"configuration", std::move(configuration)},
        {"repositories", std::move(repositories)},
        {"packages", std::move(packages)},
    };
}

}  // namespace ponk::config

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/text/diagnostic.hpp"
#include "config/text/document.hpp"
#include "config/text/place.hpp"

#include <string>
#include <vector>

namespace ponk::config {

struct SparkProperty {
    std::string name;
    std::string value;
    Place place;  // of the name
};

struct SparkPackage {
    Located<std::string> group;
    Located<std::string> artifact;
    Located<std::string> version;

    // "group:artifact:version", as spark-submit --packages takes it.
    [[nodiscard]] std::string coordinate() const;
};

// spark_dependencies.yml, or the spark sections of a nested run configuration.
struct SparkDependencies {
    std::vector<SparkProperty> configuration;
    std::vector<Located<std::string>> repositories;
    std::vector<SparkPackage> packages;
    Located<bool> precache_packages = true;
};

class SectionReader;
// The keys "repositories", "packages" and "configuration" of an already checked map.
void read_spark_sections(const SectionReader& reader, SparkDependencies& spark, Report& report);
void read_spark_properties(const SectionReader& reader, SparkDependencies& spark);

SparkDependencies read_spark(const Node& root, Report& report);

Json meaning_of(const SparkDependencies& spark);

}  // namespace ponk::config

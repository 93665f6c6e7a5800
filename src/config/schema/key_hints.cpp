// SPDX-License-Identifier: Apache-2.0
#include "config/schema/key_hints.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace ponk::config {

namespace {

struct Elsewhere {
    std::string_view schema;
    std::string_view key;
    std::string_view advice;
};

// Keys that people put into the wrong file, because one setting lives in two of them.
constexpr std::array<Elsewhere, 17> elsewhere{{
    {"a compute target", "Framework", "It belongs in the .runconfig file."},
    {"a compute target", "EnvironmentVariables", "It belongs in the .runconfig file."},
    {"a compute target", "PrepareEnvironment", "It belongs in the .runconfig file."},
    {"a compute target", "CondaDependenciesFile", "It belongs in the .runconfig file."},
    {"a compute target", "gpuSupport", "In a .compute file it is called 'nvidiaDocker'."},
    {"a compute target", "baseImage", "In a .compute file it is called 'baseDockerImage'."},
    {"a run configuration", "nvidiaDocker", "It belongs in the .compute file of the target."},
    {"a run configuration", "baseDockerImage", "It belongs in the .compute file of the target."},
    {"a run configuration", "sharedVolumes", "It belongs in the .compute file of the target."},
    {"a run configuration",
     "nativeSharedDirectory",
     "It belongs in the .compute file of the target."},
    {"a run configuration", "pythonLocation", "It belongs in the .compute file of the target."},
    {"a run configuration", "yarnDeployMode", "It belongs in the .compute file of the target."},
    {"a run configuration", "address", "It belongs in the .compute file of the target."},
    {"a run configuration (late 2018)",
     "nvidiaDocker",
     "In this schema it is 'gpuSupport' below 'environment', 'docker'."},
    {"a run configuration (late 2018)",
     "baseDockerImage",
     "In this schema it is 'baseImage' below 'environment', 'docker'."},
    {"a run configuration (late 2018)",
     "EnvironmentVariables",
     "In this schema it is 'environmentVariables' below 'environment'."},
    {"a conda environment", "pip", "It belongs below 'dependencies', as an item '- pip:'."},
}};

// A near miss for people: one slip in a short word, two in a long one.
std::optional<std::string> probably_meant(std::string_view word, const Schema& schema)
{
    std::optional<std::string> best;
    std::size_t best_distance = word.size() < 6 ? 2 : 3;
    for (const auto& key : schema.keys) {
        const auto distance = edit_distance(lower(word), lower(key.name));
        if (distance >= best_distance) continue;
        best_distance = distance;
        best = key.name;
    }
    return best;
}

}  // namespace

void report_unknown_key(const Schema& schema, const Node& map, const Member& member, Report& report)
{
    const std::string shown = printable(member.key);
    for (const auto& entry : elsewhere) {
        if (entry.schema != schema.what || entry.key != member.key) continue;
        report.error(member.place,
                     "misplaced-key",
                     fmt::format("{} has no key '{}'", schema.what, shown),
                     std::string(entry.advice));
        return;
    }
    for (const auto& key : schema.keys) {
        if (!same_ignoring_case(key.name, trim(member.key))) continue;
        report.error(member.place,
                     "wrong-case",
                     fmt::format("the key must be written '{}', not '{}'", key.name, shown),
                     map.find(key.name) != nullptr
                         ? fmt::format("'{}' exists too: keep one of them.", key.name)
                         : fmt::format("Write '{}'.", key.name));
        return;
    }
    if (const auto near = probably_meant(member.key, schema)) {
        report.error(member.place,
                     "unknown-key",
                     fmt::format("{} has no key '{}'", schema.what, shown),
                     fmt::format("Did you mean '{}'?", *near));
        return;
    }
    report.warning(member.place,
                   "unknown-key",
                   fmt::format("{} has no key '{}'; it is ignored", schema.what, shown));
}

}  // namespace ponk::config

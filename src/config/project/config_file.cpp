// SPDX-License-Identifier: Apache-2.0
#include "config/project/config_file.hpp"

#include "base/text.hpp"
#include "config/files/compute.hpp"
#include "config/files/conda.hpp"
#include "config/files/mlproject.hpp"
#include "config/files/run_configuration.hpp"
#include "config/files/spark.hpp"
#include "config/ignore/ignore_rules.hpp"
#include "config/project/project.hpp"
#include "config/schema/schemas.hpp"
#include "os/contained_path.hpp"

#include <cerrno>
#include <sys/stat.h>

namespace ponk::config {

const char* to_string(FileKind kind)
{
    switch (kind) {
    case FileKind::compute:
        return "compute";
    case FileKind::runconfig:
        return "runconfig";
    case FileKind::conda:
        return "conda";
    case FileKind::spark:
        return "spark";
    case FileKind::base_dependencies:
        return "base_dependencies";
    case FileKind::ignore:
        return "ignore";
    case FileKind::project:
        return "project";
    case FileKind::mlproject:
        return "mlproject";
    case FileKind::json:
        return "json";
    case FileKind::unknown:
        return "unknown";
    }
    return "unknown";
}

FileKind kind_by_name(const os::Path& file)
{
    const std::string name = file.filename().string();
    const std::string word = lower(name);
    const auto has = [&](std::string_view part) { return word.find(part) != std::string::npos; };
    if (word.ends_with(".compute")) return FileKind::compute;
    if (word.ends_with(".runconfig")) return FileKind::runconfig;
    if (word.ends_with(".amlignore") || word.ends_with(".gitignore")) return FileKind::ignore;
    if (word == "mlproject") return FileKind::mlproject;
    if (word == "project.json" || word.ends_with(".project.json")) return FileKind::project;
    if (has("base_dependencies")) return FileKind::base_dependencies;
    if (has("spark_dependencies")) return FileKind::spark;
    if ((has("conda") && (has(".yml") || has(".yaml"))) || word == "environment.yml" ||
        word == "environment.yaml") {
        return FileKind::conda;
    }
    if (word.ends_with(".json")) return FileKind::json;
    return FileKind::unknown;
}

FileKind kind_by_content(const Node& root)
{
    const auto has = [&](std::string_view key) { return root.find(key) != nullptr; };
    if (has("dependencies")) return FileKind::conda;
    if (has("Target") || has("ArgumentVector") || (has("target") && has("environment"))) {
        return FileKind::runconfig;
    }
    if (has("Id") && has("Scope")) return FileKind::project;
    if (has("packages") && (has("repositories") || has("configuration"))) return FileKind::spark;
    if (has("entry_points")) return FileKind::mlproject;
    if (has("type") && (has("baseDockerImage") || has("address") || has("pythonLocation"))) {
        return FileKind::compute;
    }
    return FileKind::unknown;
}

std::string name_of(const os::Path& file)
{
    return file.stem().string();
}

bool has_name(const os::Path& path)
{
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

namespace {

void report_unreadable(const Error& error, Report& report)
{
    report.error({},
                 "unreadable",
                 error.message(),
                 error.hint().empty() && error.kind() == ErrorKind::not_found
                     ? "Give existing files, relative to this folder."
                     : error.hint());
}

std::optional<std::string> load_text(const os::Path& file, Report& report)
{
    // One byte more than a document may have: the document says it best.
    auto text = os::read_file(file, std::uint64_t{64} << 20);
    if (text) return std::move(*text);
    report_unreadable(text.error(), report);
    return std::nullopt;
}

// Of a project. A link out of it would show to who reads our messages what lies elsewhere, and no
// other machine would have the file.
std::optional<std::string> load_text(const os::Path& root, const os::Path& relative, Report& report)
{
    const auto inside = os::contained_path(root, relative);
    if (inside || inside.error().kind() != ErrorKind::invalid_argument)
        return load_text(root / relative, report);
    report.error({}, "outside", inside.error().message(), "Copy the file into the project.");
    return std::nullopt;
}

struct Meaning {
    const char* schema = "";
    Json values;
    Json meaning;
};

Meaning read_runconfig(const Node& root, const os::Path& file, Report& report)
{
    const auto configuration = read_run_configuration(root, name_of(file), report);
    const bool nested = configuration.schema == RunSchema::nested_2018;
    return {to_string(configuration.schema),
            values_by(nested ? nested_run_schema() : flat_run_schema(), root),
            meaning_of(configuration)};
}

Meaning read_base_dependencies(const Node& root, Report& report)
{
    check_against(base_dependencies_schema(), root, report);
    report.notice(root.place,
                  "forerunner",
                  "this file belongs to a private build of spring 2017 and is not used",
                  "Set the base image in the .compute file ('baseDockerImage').");
    const auto values = values_by(base_dependencies_schema(), root);
    return {"base_dependencies", values, values};
}

Meaning read_kind(FileKind kind, const Node& root, const os::Path& file, Report& report)
{
    switch (kind) {
    case FileKind::compute:
        return {"compute",
                values_by(compute_schema(), root),
                meaning_of(read_compute(root, name_of(file), report))};
    case FileKind::runconfig:
        return read_runconfig(root, file, report);
    case FileKind::conda:
        return {"conda", values_by(conda_schema(), root), meaning_of(read_conda(root, report))};
    case FileKind::spark:
        return {"spark", values_by(spark_schema(), root), meaning_of(read_spark(root, report))};
    case FileKind::project:
        return {"project",
                values_by(project_schema(), root),
                meaning_of(read_project_identity(root, report))};
    case FileKind::mlproject:
        return {"mlproject",
                values_by(mlproject_schema(), root),
                meaning_of(read_mlproject(root, report))};
    case FileKind::base_dependencies:
        return read_base_dependencies(root, report);
    default:
        return {"json", plain_json(root), plain_json(root)};
    }
}

Json dump_ignore(std::string_view text)
{
    const auto rules = IgnoreRules::parse(text);
    JsonArray lines;
    JsonArray meanings;
    for (const auto& line : rules.lines()) {
        const bool include = line.starts_with('!');
        lines.push_back(line);
        meanings.push_back(
            JsonObject{{"pattern", line.substr(include ? 1 : 0)}, {"ignored", !include}});
    }
    return JsonObject{{"kind", "ignore"},
                      {"schema", "gitignore"},
                      {"values", std::move(lines)},
                      {"meaning", JsonObject{{"rules", std::move(meanings)}}}};
}

}  // namespace

std::optional<Node> load_document(const os::Path& root, const os::Path& relative, Report& report)
{
    const auto text = load_text(root, relative, report);
    return text ? read_document(*text, report) : std::nullopt;
}

namespace {

FileDump judge(const std::optional<std::string_view>& text, const os::Path& file, Report report)
{
    FileDump dump;
    FileKind kind = kind_by_name(file);
    if (text && kind == FileKind::ignore) {
        dump.document = dump_ignore(*text);
    } else if (text) {
        const auto root = read_document(*text, report);
        if (root && (kind == FileKind::unknown || kind == FileKind::json)) {
            const auto found = kind_by_content(*root);
            kind = found == FileKind::unknown ? kind : found;
        }
        if (kind == FileKind::unknown) {
            report.error({},
                         "unknown-file",
                         "unknown kind of configuration file",
                         "ponk reads .compute, .runconfig, conda and Spark dependencies, "
                         ".amlignore, project.json and MLproject.");
        } else if (root) {
            const auto read = read_kind(kind, *root, file, report);
            if (!report.has_errors()) {
                dump.document = JsonObject{{"kind", to_string(kind)},
                                           {"schema", read.schema},
                                           {"values", read.values},
                                           {"meaning", read.meaning}};
            }
        }
    }
    dump.diagnostics = report.take();
    sort_and_unify(dump.diagnostics);
    return dump;
}

}  // namespace

FileDump dump_file(const os::Path& root, const std::string& name)
{
    Report report(name);
    const auto text = load_text(root, name, report);
    return judge(text ? std::optional<std::string_view>(*text) : std::nullopt,
                 root / name,
                 std::move(report));
}

FileDump dump_text(std::string_view text, const os::Path& file, const std::string& shown)
{
    return judge(text, file, Report(shown));
}

FileDump dump_file(const os::Path& file)
{
    Report report(file.string());
    const auto text = load_text(file, report);
    return judge(
        text ? std::optional<std::string_view>(*text) : std::nullopt, file, std::move(report));
}

}  // namespace ponk::config

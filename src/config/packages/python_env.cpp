// SPDX-License-Identifier: Apache-2.0
#include "config/packages/python_env.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "os/file.hpp"

namespace ponk::config {

namespace {

void read_python(const Node& value, CondaEnvironment& environment, Report& report)
{
    if (value.is_null()) return;
    if (!value.is_scalar() || value.text.find_first_not_of("0123456789.") != value.text.npos) {
        report.error(value.place,
                     "wrong-value",
                     "'python' needs a version, not " +
                         (value.is_scalar() ? "'" + printable(value.text) + "'" : type_name(value)),
                     "Write it as 'python: \"3.11\"'.");
        return;
    }
    environment.python_version = {value.text, value.place};
    environment.conda.push_back(
        parse_package("python=" + value.text, value.place, Installer::conda));
}

void read_list(const Node& list, const char* key, CondaEnvironment& environment, Report& report)
{
    if (list.is_null()) return;
    if (!list.is_list()) {
        report.error(list.place,
                     "wrong-type",
                     fmt::format("'{}' needs a list, not {}", key, type_name(list)),
                     "Write each package on its own line, beginning with '- '.");
        return;
    }
    for (const auto& item : list.items) {
        if (!item.is_scalar() || item.is_null()) {
            report.error(
                item.place,
                "wrong-type",
                fmt::format("a package of '{}' needs to be text, not {}", key, type_name(item)),
                "Packages here are those of pip: 'numpy', 'numpy>=1.20', '-r FILE'.");
            continue;
        }
        auto package = parse_package(item.text, item.place, Installer::pip);
        check_package(package, Installer::pip, report);
        environment.pip.push_back(std::move(package));
    }
}

}  // namespace

bool is_python_env(std::string_view name, const Node& root)
{
    if (os::Path(name).stem() == "python_env") return true;
    return root.is_map() && (root.find("build_dependencies") != nullptr ||
                             (root.find("python") != nullptr && root.find("channels") == nullptr));
}

CondaEnvironment read_python_env(const Node& root, Report& report)
{
    CondaEnvironment environment;
    for (const auto& member : root.members) {
        if (member.key == "python") {
            read_python(member.value, environment, report);
        } else if (member.key == "build_dependencies" || member.key == "dependencies") {
            read_list(member.value, member.key.c_str(), environment, report);
        } else {
            report.warning(member.place,
                           "unknown-key",
                           fmt::format("unknown key '{}'", printable(member.key)),
                           "Keys are: python, build_dependencies, dependencies.");
        }
    }
    return environment;
}

}  // namespace ponk::config

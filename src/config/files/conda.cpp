// SPDX-License-Identifier: Apache-2.0
#include "config/files/conda.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"
#include "config/schema/schemas.hpp"

#include <algorithm>
#include <map>

namespace ponk::config {

namespace {

class CondaReader {
public:
    CondaReader(const Node& root, CondaEnvironment& environment, Report& report)
        : root_(root), environment_(environment), report_(report)
    {
    }

    void read()
    {
        const SectionReader reader(&root_);
        reader.read("name", environment_.name);
        reader.read("channels", environment_.channels);
        if (const Node* dependencies = reader.find("dependencies"))
            read_dependencies(*dependencies);
        check_python();
        check_wheels();
    }

private:
    void read_dependencies(const Node& list)
    {
        if (!list.is_list()) {
            report_.error(list.place,
                          "wrong-type",
                          fmt::format("'dependencies' needs a list, not {}", type_name(list)),
                          "Write each package on its own line, beginning with '- '.");
            return;
        }
        for (const auto& item : list.items) {
            if (item.is_scalar()) {
                add(item, Installer::conda, environment_.conda);
            } else if (item.is_map()) {
                read_nested(item);
            } else {
                report_.error(item.place,
                              "wrong-type",
                              "a package needs to be text, not a list",
                              "Write packages for pip below an item '- pip:'.");
            }
        }
    }

    void read_nested(const Node& item)
    {
        for (const auto& member : item.members) {
            if (member.key != "pip") {
                const bool near = same_ignoring_case(member.key, "pip");
                report_.error(member.place,
                              near ? "wrong-case" : "unknown-key",
                              fmt::format("a conda dependency list cannot have a nested list '{}'",
                                          printable(member.key)),
                              "Only 'pip:' may have a nested list.");
            } else if (member.value.is_list()) {
                for (const auto& package : member.value.items)
                    read_pip(package);
            } else if (!member.value.is_null()) {
                report_.error(member.value.place,
                              "wrong-type",
                              fmt::format("'pip' needs a list, not {}", type_name(member.value)));
            }
        }
    }

    void read_pip(const Node& item)
    {
        if (item.is_scalar()) return add(item, Installer::pip, environment_.pip);
        report_.error(item.place,
                      "wrong-type",
                      fmt::format("a package for pip needs to be text, not {}", type_name(item)),
                      item.is_map() ? "Put a text that contains ': ' in quotes." : "");
    }

    void add(const Node& item, Installer installer, std::vector<Package>& list)
    {
        if (item.is_null()) {
            report_.error(item.place, "empty-item", "this list item is empty", "Remove the line.");
            return;
        }
        Package package = parse_package(item.text, item.place, installer);
        check_package(package, installer, report_);
        if (installer == Installer::conda && package.name == "python") note_python(package);
        list.push_back(std::move(package));
    }

    void note_python(const Package& package)
    {
        const auto start = package.version.find_first_of("0123456789");
        if (start == std::string::npos ||
            package.version.find_first_of("<>!") != std::string::npos) {
            return;
        }
        const auto end = package.version.find_first_not_of("0123456789.", start);
        environment_.python_version = {package.version.substr(start, end - start), package.place};
    }

    void check_python()
    {
        const auto& version = environment_.python_version;
        if (!version.given()) return;
        const auto parts = split(*version, '.');
        const auto major = parse_integer(parts[0]);
        const auto minor = parts.size() > 1 ? parse_integer(parts[1]) : std::nullopt;
        if (!major || !minor || (*major == 3 && *minor >= 9) || *major > 3) return;
        report_.notice(
            version.place,
            "python-old",
            fmt::format(
                "Python {} gets no security updates, and current packages do not install on it",
                *version),
            "Old conda channels still have it; for new work use 3.11 or newer.");
    }

    void check_wheels()
    {
        for (const auto* list : {&environment_.conda, &environment_.pip}) {
            for (const auto& package : *list) {
                if (const auto tags = wheel_tags(package.text)) check_wheel(package, *tags);
            }
        }
    }

    void check_wheel(const Package& package, const WheelTags& tags)
    {
        if (!wheel_fits_linux(tags)) {
            report_.warning(package.place,
                            "wheel-platform",
                            fmt::format("this wheel is for '{}'; containers and clusters run Linux",
                                        printable(tags.platform)),
                            "Use the wheel whose file name ends in 'linux_x86_64.whl' or "
                            "'manylinux…x86_64.whl'.");
        }
        if (environment_.python_version.given() &&
            !wheel_fits_python(tags, *environment_.python_version)) {
            report_.warning(package.place,
                            "wheel-python",
                            fmt::format("this wheel is for '{}', but line {} asks for Python {}",
                                        printable(tags.python),
                                        environment_.python_version.place.line,
                                        *environment_.python_version),
                            "Use the wheel for that Python, or change the Python version.");
        }
    }

    const Node& root_;
    CondaEnvironment& environment_;
    Report& report_;
};

const char* kind_name(Package::Kind kind)
{
    switch (kind) {
    case Package::Kind::name:
        return "name";
    case Package::Kind::url:
        return "url";
    case Package::Kind::path:
        return "path";
    case Package::Kind::option:
        return "option";
    }
    return "name";
}

Json package_list(const std::vector<Package>& packages)
{
    JsonArray array;
    for (const auto& package : packages) {
        JsonObject item{{"text", package.text}, {"kind", kind_name(package.kind)}};
        if (!package.name.empty()) item.set("name", package.name);
        if (!package.version.empty()) item.set("version", package.version);
        if (!package.channel.empty()) item.set("channel", package.channel);
        array.push_back(std::move(item));
    }
    return array;
}

}  // namespace

CondaEnvironment read_conda(const Node& root, Report& report)
{
    CondaEnvironment environment;
    check_against(conda_schema(), root, report);
    CondaReader(root, environment, report).read();
    return environment;
}

Json meaning_of(const CondaEnvironment& environment)
{
    JsonArray channels;
    for (const auto& channel : environment.channels)
        channels.push_back(*channel);
    return JsonObject{
        {"name", *environment.name},
        {"python",
         environment.python_version->empty() ? Json() : Json(*environment.python_version)},
        {"channels", std::move(channels)},
        {"conda", package_list(environment.conda)},
        {"pip", package_list(environment.pip)},
    };
}

}  // namespace ponk::config

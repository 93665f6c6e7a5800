// SPDX-License-Identifier: Apache-2.0
#include "config/packages/pyproject.hpp"

#include "base/text.hpp"
#include "config/files/package.hpp"

namespace ponk::config {

namespace {

// "~=3.10" and "==3.11.*" in the words of conda constraints, which everything else here uses.
std::string conda_clause(std::string_view clause)
{
    clause = trim(clause);
    if (clause.starts_with("~=")) {
        const auto version = trim(clause.substr(2));
        auto parts = split(version, '.');
        if (parts.size() < 2) return ">=" + std::string(version);
        parts.pop_back();
        const auto last = parse_integer(parts.back());
        if (!last) return ">=" + std::string(version);
        parts.back() = std::to_string(*last + 1);
        return fmt::format(">={},<{}", version, join(parts, "."));
    }
    if (clause.starts_with("==") && clause.ends_with(".*"))
        return "=" + std::string(trim(clause.substr(2, clause.size() - 4)));
    std::string text;
    for (const char c : clause)
        if (c != ' ') text += c;
    return text;
}

void read_python(const Node& value, CondaEnvironment& environment)
{
    std::vector<std::string> clauses;
    for (const auto& clause : split(value.text, ',')) {
        const auto text = conda_clause(clause);
        // What a version must not be decides nothing about which one to look for.
        if (!text.empty() && !text.starts_with("!=")) clauses.push_back(text);
    }
    if (clauses.empty()) return;
    environment.conda.push_back(
        parse_package("python" + join(clauses, ","), value.place, Installer::conda));
}

}  // namespace

CondaEnvironment read_requirements(const Node& table, Report& report)
{
    CondaEnvironment environment;
    if (const auto* python = table.find("requires-python"); python != nullptr) {
        if (python->is_scalar()) {
            read_python(*python, environment);
        } else {
            report.error(python->place, "wrong-type", "'requires-python' needs text");
        }
    }
    const auto* const list = table.find("dependencies");
    if (list == nullptr) return environment;
    if (!list->is_list()) {
        report.error(list->place,
                     "wrong-type",
                     fmt::format("'dependencies' needs a list, not {}", type_name(*list)));
        return environment;
    }
    for (const auto& item : list->items) {
        if (!item.is_scalar() || !item.is_quoted()) {
            report.error(item.place, "wrong-type", "a package needs to be text");
            continue;
        }
        auto package = parse_package(item.text, item.place, Installer::pip);
        if (package.kind == Package::Kind::option) {
            report.error(item.place,
                         "wrong-value",
                         fmt::format("'{}' is an option, not a package", printable(item.text)));
            continue;
        }
        environment.pip.push_back(std::move(package));
    }
    return environment;
}

std::optional<std::string> script_metadata(std::string_view script)
{
    std::string text;
    bool inside = false;
    std::size_t start = 0;
    while (start < script.size()) {
        const auto end = std::min(script.find('\n', start), script.size());
        auto line = script.substr(start, end - start);
        start = end + 1;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!inside) {
            inside = line == "# /// script";
            text += '\n';
            continue;
        }
        if (line == "# ///") return text;
        if (line != "#" && !line.starts_with("# ")) return std::nullopt;  // it never ends
        text += std::string(line.substr(std::min<std::size_t>(line.size(), 2))) + '\n';
    }
    return std::nullopt;
}

}  // namespace ponk::config

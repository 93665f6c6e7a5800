// SPDX-License-Identifier: Apache-2.0
#include "engine/run/old_names.hpp"

#include "base/text.hpp"
#include "config/script/modules.hpp"
#include "config/script/old_names.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

constexpr std::size_t most_lines = 200;

// The text between `begin` and `end`, and how much of the line is over then; empty: it is not
// there.
std::string_view between(std::string_view& line, std::string_view begin, std::string_view end)
{
    const auto from = line.find(begin);
    if (from == line.npos) return {};
    line.remove_prefix(from + begin.size());
    const auto to = line.find(end);
    const auto found = line.substr(0, to);
    line.remove_prefix(to == line.npos ? line.size() : to + end.size());
    return found;
}

// The last lines of Python's tracebacks, and the name that they miss.
std::string missing_name(std::string_view line)
{
    auto rest = line;
    if (const auto module = between(rest, "No module named '", "'"); !module.empty())
        return std::string(module);
    rest = line;
    if (const auto name = between(rest, "cannot import name '", "'"); !name.empty())
        return fmt::format("{}.{}", between(rest, "from '", "'"), name);
    rest = line;
    if (const auto module = between(rest, "module '", "' has no attribute"); !module.empty())
        return fmt::format("{}.{}", module, between(rest, "'", "'"));
    rest = line;
    if (const auto type = between(rest, "AttributeError: '", "' object has no attribute");
        type == "DataFrame" || type == "Series")
        return fmt::format(".{}", between(rest, "'", "'"));
    return {};
}

// Python misses 'azure' where the script asked for 'azure.ml.api': the whole name, from the line of
// the traceback that has it.
std::string
imported_name(const std::vector<std::string>& lines, std::size_t at, const std::string& top)
{
    constexpr std::size_t far = 6;
    for (auto above = at; above > 0 && above + far > at; --above) {
        for (const std::string_view word : {"from ", "import "}) {
            std::string_view line = trim(lines[above - 1]);
            if (!line.starts_with(word)) continue;
            line.remove_prefix(word.size());
            const auto name = line.substr(0, line.find_first_of(" ,;("));
            if (name.starts_with(top + ".")) return std::string(name);
        }
    }
    return top;
}

const config::OldName* find_old(const std::string& name)
{
    if (!name.starts_with('.')) return config::find_old_name(name);
    for (const char* mark : {"[", "("})
        if (const auto* const old = config::find_old_name(name + mark)) return old;
    return nullptr;
}

std::string where_packages_are_named(const model::RunSpec& spec)
{
    const auto& environment = spec.environment;
    if (!environment.file.empty())
        return fmt::format("add it to '{}'", printable(environment.file));
    if (!environment.prefix.empty())
        return fmt::format("install it into '{}'", printable(environment.prefix));
    if (spec.runtime.container)
        return "add it to the image, or to a file of packages (requirements.txt, conda file)";
    return "install it for the Python that ran the script, or name the packages in a "
           "'requirements.txt' or 'pyproject.toml'";
}

}  // namespace

std::optional<std::string> advise_on_old_names(std::string_view log, const model::RunSpec& spec)
{
    const auto lines = split(log, '\n');
    const auto first = lines.size() > most_lines ? lines.size() - most_lines : 0;
    for (auto at = lines.size(); at > first; --at) {
        const std::string_view line = trim(lines[at - 1]);
        if (line.find("Error: ") == line.npos) continue;
        const auto name = missing_name(line);
        if (name.empty() || name.size() > 200) continue;
        if (const auto* const old = find_old(imported_name(lines, at - 1, name))) {
            return fmt::format("{}. {} 'ponk check SCRIPT' lists all such names.",
                               config::what_became_of(*old),
                               config::advice_on(*old));
        }
        if (line.find("No module named") == line.npos) continue;
        const auto top = name.substr(0, name.find('.'));
        const auto distribution = config::distribution_of(name);
        if (distribution != lower(top) && distribution.find('-') != distribution.npos &&
            top.find('_') == top.npos)
            return fmt::format("module '{}' is in the package '{}': {}",
                               printable(top),
                               distribution,
                               where_packages_are_named(spec));
    }
    return std::nullopt;
}

}  // namespace ponk::engine

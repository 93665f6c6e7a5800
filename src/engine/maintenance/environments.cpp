// SPDX-License-Identifier: Apache-2.0
#include "engine/maintenance/environments.hpp"

#include "base/text.hpp"
#include "os/variables.hpp"

#include <algorithm>

namespace ponk::engine {

namespace {

constexpr std::int64_t default_days = 60;
constexpr std::int64_t default_size = std::int64_t{100} << 30;
constexpr std::int64_t most_days = 36'500;

std::int64_t
setting(const std::vector<std::string>& variables, const std::string& name, std::int64_t otherwise)
{
    const auto value = parse_integer(os::variable(variables, name));
    return value && *value >= 0 ? *value : otherwise;
}

// Everything that the executors tell, and who told it; once, where targets of two types share a
// machine.
struct Told {
    std::vector<FoundEnvironment> found;
    std::vector<std::string> problems;
};

Told ask_all(const Context& context, const std::stop_token& stop)
{
    Told told;
    for (const auto& [type, executor] : context.executors) {
        auto* const environments = executor->environments();
        if (environments == nullptr) continue;
        auto list = environments->list(stop);
        if (!list) {
            told.problems.push_back(
                fmt::format("targets of type '{}': {}", type, list.error().message()));
            continue;
        }
        for (auto& entry : list->entries) {
            const bool is_known = std::ranges::any_of(told.found, [&](const auto& other) {
                return other.entry.machine == entry.machine && other.entry.id == entry.id;
            });
            if (!is_known) told.found.push_back({environments, std::move(entry)});
        }
        told.problems.insert(told.problems.end(), list->problems.begin(), list->problems.end());
    }
    std::stable_sort(told.found.begin(), told.found.end(), [](const auto& left, const auto& right) {
        return left.entry.last_used > right.entry.last_used;
    });
    return told;
}

constexpr std::size_t most_named = 6;  // in a hint

// "'a', 'b' or 'c'", each once.
std::string one_of(std::vector<std::string> names)
{
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const auto more = names.size() > most_named;
    if (more) names.resize(most_named);
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += i + 1 == names.size() && !more ? " or " : ", ";
        text += names[i];
    }
    return more ? text + ", …" : text;
}

std::string machine_word(const executor::EnvironmentEntry& entry)
{
    return entry.machine.empty() ? std::string(this_machine) : entry.machine;
}

Error several(const std::vector<FoundEnvironment>& found, const std::string& name)
{
    std::vector<std::string> ids;
    std::vector<std::string> machines;
    for (const auto& one : found) {
        ids.push_back("'" + one.entry.id + "'");
        machines.push_back("'--machine " + shell_word(printable(machine_word(one.entry))) + "'");
    }
    const bool alike =
        std::all_of(ids.begin(), ids.end(), [&](const auto& id) { return id == ids[0]; });
    if (alike)
        return {ErrorKind::conflict,
                fmt::format("{} machines have environment '{}'", found.size(), printable(name)),
                fmt::format("Use one of: {}.", one_of(std::move(machines)))};
    return {ErrorKind::conflict,
            fmt::format("'{}' matches {} environments", printable(name), found.size()),
            fmt::format("Use more characters: {}.", one_of(std::move(ids)))};
}

}  // namespace

executor::EnvironmentList list_environments(const Context& context, const std::stop_token& stop)
{
    auto told = ask_all(context, stop);
    executor::EnvironmentList list;
    list.problems = std::move(told.problems);
    for (auto& found : told.found)
        list.entries.push_back(std::move(found.entry));
    return list;
}

Result<FoundEnvironment> find_environment(const Context& context,
                                          const std::string& name,
                                          const std::string& machine,
                                          const std::stop_token& stop)
{
    auto told = ask_all(context, stop);
    return choose_environment(std::move(told.found), name, machine, told.problems);
}

Result<FoundEnvironment> choose_environment(std::vector<FoundEnvironment> found,
                                            const std::string& name,
                                            const std::string& machine,
                                            const std::vector<std::string>& problems)
{
    std::erase_if(found, [&](const FoundEnvironment& one) {
        return name.empty() || !one.entry.id.starts_with(name) ||
               (!machine.empty() && machine_word(one.entry) != machine);
    });
    if (found.empty()) {
        auto message = fmt::format("there is no environment '{}'", printable(name));
        if (!machine.empty()) message += fmt::format(" on machine '{}'", printable(machine));
        for (const auto& problem : problems)
            message += "; " + problem;
        return tl::unexpected(Error(
            ErrorKind::not_found, message, "'ponk environment list' lists the environments."));
    }
    if (found.size() > 1) return tl::unexpected(several(found, name));
    return std::move(found.front());
}

executor::EnvironmentRules environment_rules(const std::vector<std::string>& variables)
{
    const auto days = std::min(setting(variables, "PONK_ENV_KEEP_DAYS", default_days), most_days);
    return {.largest_age = std::chrono::hours(days * 24),
            .largest_size =
                static_cast<std::uint64_t>(setting(variables, "PONK_ENV_KEEP_SIZE", default_size))};
}

executor::EnvironmentGarbage collect_environments(const Context& context,
                                                  const executor::EnvironmentRules& rules,
                                                  const std::stop_token& stop)
{
    executor::EnvironmentGarbage all;
    for (const auto& [type, executor] : context.executors) {
        if (stop.stop_requested()) break;
        auto* const environments = executor->environments();
        if (environments == nullptr) continue;
        auto one = environments->collect_garbage(rules, stop);
        if (!one) {
            all.problems.push_back(
                fmt::format("targets of type '{}': {}", type, one.error().message()));
            continue;
        }
        all.freed += one->freed;
        all.removed.insert(all.removed.end(), one->removed.begin(), one->removed.end());
        all.problems.insert(all.problems.end(), one->problems.begin(), one->problems.end());
    }
    return all;
}

}  // namespace ponk::engine

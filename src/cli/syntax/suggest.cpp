// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/suggest.hpp"

#include "base/text.hpp"
#include "cli/syntax/parse.hpp"

#include <algorithm>
#include <optional>

namespace ponk::cli {
namespace {

struct Renamed {
    std::string_view then;
    std::string_view now;
};

// Words of other tools and the misspellings of the documents.
constexpr Renamed renamed[] = {
    {"experiment run", "experiment submit"},
    {"ambience", "runconfiguration"},
    {"computetargets", "computetarget"},
    {"experiments", "experiment"},
    {"history show", "history info"},
    {"history metrics", "history info"},
    {"run", "submit"},
    {"show", "history info"},
    {"info", "history info"},
    {"diff", "history compare --diff"},
    {"compare", "history compare"},
    {"ps", "runs"},
    {"status", "experiment status"},
    {"kill", "cancel"},
    {"stop", "cancel"},
    {"log", "logs"},
    {"init", "project create"},
};

// Groups of the predecessor that have no counterpart, and why.
constexpr Renamed without_counterpart[] = {
    {"account", "ponk needs no account."},
    {"history undelete",
     "What 'ponk history delete' removed is gone; 'ponk history restore' brings back runs that a "
     "client of MLflow deleted."},
    {"workspace",
     "ponk needs no workspace: a project is a folder, and its history is on this machine."},
    {"project update",
     "A project needs no link to a repository: ponk reads the git repository that contains it."},
    {"datasource",
     "ponk has no commands for data sources: scripts read files, .dsource and .dprep files of the "
     "project as before."},
    {"env", "Deployment is not part of ponk; 'ponk history promote' keeps a model by name."},
    {"model", "Deployment is not part of ponk; 'ponk history promote' keeps a model by name."},
    {"manifest", "Deployment is not part of ponk; 'ponk history promote' keeps a model by name."},
    {"image", "Deployment is not part of ponk; 'ponk history promote' keeps a model by name."},
    {"service", "Deployment is not part of ponk; 'ponk history promote' keeps a model by name."},
};

std::optional<std::string_view> why_without(std::string_view path)
{
    const auto found = std::ranges::find(without_counterpart, path, &Renamed::then);
    if (found == std::end(without_counterpart)) return std::nullopt;
    return found->now;
}

std::string did_you_mean(std::string_view command)
{
    return fmt::format("Did you mean 'ponk {}'?", command);
}

std::optional<std::string_view> renamed_to(std::string_view path)
{
    const auto found = std::ranges::find(renamed, path, &Renamed::then);
    if (found == std::end(renamed)) return std::nullopt;
    return found->now;
}

// Every path that is or begins a command, with the given number of words.
std::vector<std::string> paths_of_length(std::size_t words)
{
    std::vector<std::string> paths;
    const auto add = [&](std::string_view path) {
        const auto parts = split(path, ' ');
        if (parts.size() != words) return;
        paths.emplace_back(path);
    };
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no) continue;
        add(command->path);
        for (const std::string_view alias : command->aliases)
            add(alias);
    }
    for (const Group& group : groups()) {
        add(group.name);
        for (const std::string_view alias : group.aliases)
            add(alias);
    }
    return paths;
}

// The nearest path of as many words, judged word by word so that a long group name does not hide a
// wrong verb.
std::optional<std::string> nearest_path(const std::vector<std::string>& words)
{
    std::optional<std::string> best;
    std::size_t best_distance = 0;
    for (const std::string& path : paths_of_length(words.size())) {
        const auto parts = split(path, ' ');
        std::size_t distance = 0;
        bool near = true;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::size_t d = edit_distance(lower(words[i]), parts[i]);
            const bool prefix =
                words[i].size() >= 3 && parts[i].compare(0, words[i].size(), words[i]) == 0;
            if (d > std::max<std::size_t>(1, parts[i].size() / 3) && !prefix) near = false;
            distance += prefix ? 1 : d;
        }
        if (near && (!best || distance < best_distance)) {
            best = path;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace

std::string suggest_command(const std::vector<std::string>& words)
{
    if (words.empty()) return "";
    const std::string two = words.size() > 1 ? words[0] + " " + words[1] : "";
    for (const std::string& path : {two, words[0]}) {
        if (const auto why = why_without(path)) return std::string(*why);
    }
    if (!two.empty()) {
        if (const auto now = renamed_to(two)) {
            return fmt::format("Use 'ponk {}'.", *now);
        }
        if (const Group* group = find_group(words[0])) {
            // The group is right: only its verbs can have been meant.
            std::vector<std::string> verbs;
            const std::string head = std::string(group->name) + " ";
            for (const Command* command : commands()) {
                if (command->path.substr(0, head.size()) == head) {
                    verbs.emplace_back(command->path.substr(head.size()));
                }
            }
            if (const auto verb = nearest(words[1], verbs)) return did_you_mean(head + *verb);
            return "";
        }
        if (const auto near = nearest_path({words[0], words[1]})) return did_you_mean(*near);
    }
    if (const auto now = renamed_to(words[0])) {
        return fmt::format("Use 'ponk {}'.", *now);
    }
    if (const auto near = nearest_path({words[0]})) return did_you_mean(*near);
    // "submitt" of "experiment": the verb alone, without its group.
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no) continue;
        const std::size_t blank = command->path.rfind(' ');
        if (blank != command->path.npos && command->path.substr(blank + 1) == words[0]) {
            return did_you_mean(command->path);
        }
    }
    return "";
}

std::string suggest_option(const Command& command, std::string_view word)
{
    const bool one_dash = word.substr(0, 2) != "--";
    const std::string name(word.substr(0, word.find('=')).substr(one_dash ? 1 : 2));
    std::vector<std::string> names;
    const auto add = [&](std::span<const Option> options) {
        for (const Option& option : options) {
            if (option.shown == Option::Shown::yes) names.emplace_back(option.name);
        }
    };
    add(command.options);
    add(global_options());
    if (one_dash) {
        // "-async": one dash too few.
        if (std::ranges::count(names, name) > 0) return fmt::format("Did you mean '--{}'?", name);
        return "";
    }
    if (const auto near = nearest(lower(name), names)) {
        return fmt::format("Did you mean '--{}'?", *near);
    }
    std::vector<std::string> longer;
    for (const std::string& candidate : names) {
        if (name.size() >= 2 && candidate.compare(0, name.size(), name) == 0)
            longer.push_back(candidate);
    }
    if (longer.size() == 1) return fmt::format("Did you mean '--{}'?", longer[0]);
    return "";
}

std::string suggest_name(std::string_view word,
                         const std::vector<std::string>& names,
                         std::string_view otherwise)
{
    if (const auto near = nearest(word, names)) return fmt::format("Did you mean '{}'?", *near);
    return std::string(otherwise);
}

}  // namespace ponk::cli

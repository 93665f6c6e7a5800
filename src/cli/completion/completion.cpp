// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/completion.hpp"

#include "base/text.hpp"
#include "cli/client/daemon.hpp"
#include "cli/client/home.hpp"
#include "cli/projects/samples.hpp"
#include "cli/syntax/man.hpp"
#include "cli/syntax/parse.hpp"
#include "config/project/project.hpp"
#include "net/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ponk::cli {
namespace {

using Candidates = std::vector<Candidate>;
constexpr std::chrono::milliseconds patience{1500};

// Asks a daemon that runs; a Tab never starts one.
Json ask(const std::string& path)
{
    // A server is elsewhere, and this machine's names are not its own.
    if (const auto server = find_server(std::nullopt); !server || *server) return {};
    const auto home = ponk_home();
    if (!home) return {};
    auto found = Daemon::find(*home, patience);
    if (!found || !*found) return {};
    auto answer = (*found)->get(path, patience);
    return answer ? std::move(*answer) : Json();
}

Candidates runs(const std::string& project)
{
    Candidates list{{"last", "the newest run of the project"}};
    std::error_code problem;
    const auto folder = std::filesystem::canonical(project.empty() ? "." : project, problem);
    if (problem) return list;
    const auto known =
        ask("/projects/lookup?path=" + net::percent_encode(folder.native())).text("id");
    if (known.empty()) return list;
    const Json answer = ask("/runs?limit=50&project=" + net::percent_encode(known));
    if (!answer["runs"].is_array()) return list;
    for (const Json& run : answer["runs"].as_array()) {
        const std::string id = run.text("run_id");
        list.push_back({id.size() > 8 ? id.substr(id.size() - 8) : id,
                        printable(fmt::format("{} {} {}",
                                              run.text("script_name"),
                                              run.text("status"),
                                              run.text("created_utc").substr(0, 16)))});
    }
    return list;
}

Candidates named(const std::string& path, std::string_view list_key, std::string_view key)
{
    Candidates list;
    const Json answer = ask(path);
    if (!answer[list_key].is_array()) return list;
    for (const Json& item : answer[list_key].as_array())
        list.push_back({item.text(key), ""});
    return list;
}

Candidates of_project(Complete what, const std::string& folder)
{
    Candidates list;
    const auto project = config::open_project(folder.empty() ? "." : folder);
    if (!project) return list;
    const auto& names = what == Complete::target ? project->targets : project->run_configurations;
    for (const std::string& name : names)
        list.push_back({name, ""});
    return list;
}

Candidates
values(Complete what, Words choices, const std::string& project, std::string_view samples)
{
    Candidates list;
    switch (what) {
    case Complete::nothing:
        break;
    case Complete::file:
        list.push_back({":file", ""});
        break;
    case Complete::folder:
        list.push_back({":folder", ""});
        break;
    case Complete::run:
        return runs(project);
    case Complete::configuration:
    case Complete::target:
        return of_project(what, project);
    case Complete::project:
        return named("/projects", "projects", "name");
    case Complete::secret:
        return named("/secrets", "secrets", "name");
    case Complete::environment:
        return named("/environments", "environments", "id");
    case Complete::sample:
        if (const auto gallery = Gallery::open(samples)) {
            for (const Sample& sample : gallery->samples())
                list.push_back({sample.folder, sample.name});
        }
        break;
    case Complete::page:
        for (const std::string& name : man_page_names()) {
            if (name.starts_with("ponk-")) list.push_back({name.substr(5), ""});
        }
        break;
    case Complete::choice:
        for (const std::string_view word : choices)
            list.push_back({std::string(word), ""});
        break;
    }
    return list;
}

// The words that may follow the path typed so far.
Candidates next_words(const std::string& path)
{
    Candidates list;
    const std::string head = path.empty() ? "" : path + " ";
    const auto add = [&](std::string_view full, std::string_view says) {
        if (!full.starts_with(head) || full.size() == head.size()) return;
        const std::string_view tail = full.substr(head.size());
        const std::string word(tail.substr(0, tail.find(' ')));
        const auto same = [&](const Candidate& other) { return other.word == word; };
        if (std::ranges::none_of(list, same)) list.push_back({word, std::string(says)});
    };
    for (const Group& group : groups()) {
        add(group.name, group.summary);
        for (const std::string_view alias : group.aliases)
            add(alias, group.summary);
    }
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no) continue;
        add(command->path, command->summary);
        for (const std::string_view alias : command->aliases)
            add(alias, command->summary);
    }
    return list;
}

Candidates option_words(const Command* command)
{
    Candidates list;
    const auto add = [&](std::span<const Option> options) {
        for (const Option& option : options) {
            if (option.shown == Option::Shown::no) continue;
            list.push_back({"--" + std::string(option.name), std::string(option.help)});
            if (!option.brief.empty()) {
                list.push_back({"-" + std::string(option.brief), std::string(option.help)});
            }
        }
    };
    if (command != nullptr) add(command->options);
    add(global_options());
    return list;
}

const Option* find_option(const Command* command, std::string_view word)
{
    const auto search = [&](std::span<const Option> options) -> const Option* {
        for (const Option& option : options) {
            const bool long_form = word.starts_with("--") && word.substr(2) == option.name;
            const bool brief = !option.brief.empty() && word.substr(1) == option.brief;
            if (word.starts_with("-") && (long_form || brief)) return &option;
        }
        return nullptr;
    };
    const Option* found = command != nullptr ? search(command->options) : nullptr;
    return found != nullptr ? found : search(global_options());
}

// Where the cursor stands on the line.
struct Cursor {
    const Command* command = nullptr;
    std::string path;
    std::size_t positional = 0;
    const Option* value_of = nullptr;  // the word at the cursor is this option's value
    bool options_over = false;
    std::string project;
    std::string_view samples;
};

Cursor locate(const std::vector<std::string>& words)
{
    Cursor at;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (at.value_of != nullptr) {
            if (at.value_of->name == "project") at.project = word;
            at.value_of = nullptr;
            continue;
        }
        if (!at.options_over && word == "--") {
            at.options_over = true;
            continue;
        }
        if (!at.options_over && word.size() > 1 && word[0] == '-') {
            const Option* option = find_option(at.command, word);
            if (option != nullptr && !option->value.empty()) at.value_of = option;
            continue;
        }
        if (at.command != nullptr) {
            ++at.positional;
            if (at.command->rest == Command::Rest::untouched) at.options_over = true;
            continue;
        }
        if (word == "ml" && at.path.empty()) continue;
        const std::string longer = at.path.empty() ? word : at.path + " " + word;
        at.command = find_command(longer);
        const Group* group = find_group(longer);
        at.path = group != nullptr ? std::string(group->name) : longer;
    }
    return at;
}

Candidates candidates(const Cursor& at, const std::string& current)
{
    if (at.value_of != nullptr) {
        return values(at.value_of->complete, at.value_of->choices, at.project, at.samples);
    }
    if (!at.options_over && current.starts_with("-")) {
        const std::size_t equals = current.find('=');
        if (equals == current.npos) return option_words(at.command);
        const Option* option = find_option(at.command, current.substr(0, equals));
        if (option == nullptr) return {};
        Candidates list = values(option->complete, option->choices, at.project, at.samples);
        for (Candidate& one : list) {
            if (one.word[0] != ':') one.word = current.substr(0, equals + 1) + one.word;
        }
        return list;
    }
    if (at.command == nullptr) return next_words(at.path);
    const auto& places = at.command->positionals;
    if (at.command->rest == Command::Rest::untouched && at.positional > 0) return {{":file", ""}};
    if (places.empty()) return {};
    const bool many = places.back().count == Positional::Count::many;
    if (at.positional >= places.size() && !many) return {};
    const Positional& place = places[std::min(at.positional, places.size() - 1)];
    return values(place.complete, place.choices, at.project, at.samples);
}

}  // namespace

std::vector<Candidate> complete(const std::vector<std::string>& words, std::string_view samples)
{
    const std::string current = words.empty() ? "" : words.back();
    Cursor at = locate(words);
    at.samples = samples;
    Candidates list = candidates(at, current);
    std::erase_if(list, [&](const Candidate& one) {
        // A candidate is a line with a tab in it: names that hold these cannot be told.
        return one.word.empty() || one.word.find_first_of("\n\t") != std::string::npos ||
               (one.word[0] != ':' && !one.word.starts_with(current));
    });
    for (Candidate& one : list) {
        std::ranges::replace(one.says, '\n', ' ');
        std::ranges::replace(one.says, '\t', ' ');
    }
    return list;
}

}  // namespace ponk::cli

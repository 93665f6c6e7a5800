// SPDX-License-Identifier: Apache-2.0
#include "engine/run/missing_files.hpp"

#include "base/text.hpp"
#include "config/ignore/travel_rules.hpp"
#include "model/run_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ponk::engine {

namespace {

// How programs say that a file is not there: Python and libc, TensorFlow, pandas, torch, shells.
constexpr std::string_view complaints[] = {"no such file",
                                           "not found",
                                           "does not exist",
                                           "doesn't exist",
                                           "could not find",
                                           "couldn't find",
                                           "cannot open",
                                           "unable to open"};
constexpr std::size_t most_lines = 200;
constexpr std::size_t most_candidates = 50;

// What may be a path in a line: what is quoted, and the words.
std::vector<std::string> candidates(std::string_view line)
{
    std::vector<std::string> found;
    for (const char quote : {'\'', '"', '`'}) {
        for (auto begin = line.find(quote); begin != line.npos;) {
            const auto end = line.find(quote, begin + 1);
            if (end == line.npos) break;
            found.emplace_back(line.substr(begin + 1, end - begin - 1));
            begin = line.find(quote, end + 1);
        }
    }
    for (auto word : split(line, ' ')) {
        while (!word.empty() && std::string_view(":;,.'\"`()[]").find(word.back()) != word.npos)
            word.pop_back();
        found.push_back(std::move(word));
    }
    std::erase_if(found, [](const std::string& path) {
        return path.empty() || path.size() > 1000 || path.find('\0') != path.npos;
    });
    return found;
}

// As a path of the project: its copy is gone from a path that the script had made absolute, others
// begin in the folder in which the script started.
std::optional<std::string>
in_project(const std::string& text, const std::vector<os::Path>& trees, const std::string& folder)
{
    auto path = (folder / os::Path(text)).lexically_normal();
    if (path.is_absolute()) {
        os::Path inside;
        for (const auto& tree : trees) {
            const auto relative = path.lexically_relative(tree);
            if (!relative.empty() && *relative.begin() != "..") inside = relative;
        }
        if (inside.empty()) return std::nullopt;
        path = inside;
    }
    if (path.empty() || path == "." || *path.begin() == "..") return std::nullopt;
    if (path.filename().empty()) path = path.parent_path();
    return path.native();
}

// The outermost part of the path that is left out.
Result<std::string> left_out_part(const config::TravelRules& rules, const std::string& path)
{
    for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
        const auto above = path.substr(0, slash);
        const auto decision = TRY(rules.explain(above, true));
        if (decision.fate != config::TravelRules::Fate::travels) return above;
    }
    return path;
}

// The words with which it was submitted, in the folder where that was; of very many, the first.
std::string words_of(const model::Program& program)
{
    constexpr std::size_t enough = 300;
    const bool is_command = !program.command.empty() && program.command.front() == program.script;
    const bool is_file = program.command.empty() && program.module.empty();
    std::string words =
        shell_word(is_file && !program.folder.empty()
                       ? os::Path(program.script).lexically_relative(program.folder).native()
                       : program.script);
    if (is_command) words = "-- " + words;
    if (!program.module.empty()) words = "-m " + shell_word(program.module);
    // The command of an entry point is the project's, not what somebody typed.
    if (!program.command.empty() && !is_command) return words + " …";
    const auto& rest = is_command ? program.command : program.arguments;
    for (std::size_t at = is_command ? 1 : 0; at < rest.size(); ++at) {
        if (words.size() > enough) return words + " …";
        words += " " + shell_word(rest[at]);
    }
    return words;
}

// The command line again, with the input that it lacked.
std::string remedy(const std::string& part, const os::Path& project, const model::RunSpec& spec)
{
    std::string options;
    if (spec.run_configuration != model::RunRequest().run_configuration)
        options += "-c " + shell_word(spec.run_configuration) + " ";
    for (const auto& input : spec.inputs) {
        if (input.path.starts_with(part + "/")) continue;
        std::error_code problem;
        const bool is_own =
            std::filesystem::canonical(project / input.path, problem) == os::Path(input.source);
        options +=
            "--input " + shell_word(is_own ? input.path : input.path + "=" + input.source) + " ";
    }
    return fmt::format("Give it to the run: ponk submit {}--input {} {}",
                       options,
                       shell_word(part),
                       words_of(spec.program));
}

}  // namespace

std::optional<std::string> advise_on_missing_files(std::string_view log,
                                                   const os::Path& project,
                                                   const std::vector<os::Path>& trees,
                                                   const model::RunSpec& spec)
{
    std::optional<config::TravelRules> rules;
    auto lines = split(log, '\n');
    const auto first = lines.size() > most_lines ? lines.size() - most_lines : 0;
    std::size_t asked = 0;
    // The last complaint is the one that ended the script.
    for (auto at = lines.size(); at > first && asked < most_candidates; --at) {
        const auto& line = lines[at - 1];
        const auto low = lower(line);
        const auto complains = [&low](std::string_view words) {
            return low.find(words) != low.npos;
        };
        if (std::none_of(std::begin(complaints), std::end(complaints), complains)) continue;
        for (const auto& candidate : candidates(line)) {
            const auto path = in_project(candidate, trees, spec.program.folder);
            if (!path || ++asked > most_candidates) continue;
            std::error_code problem;
            const auto status = std::filesystem::status(project / *path, problem);
            if (!std::filesystem::exists(status)) continue;
            if (!rules) {
                auto loaded = config::TravelRules::load(project);
                if (!loaded) return std::nullopt;
                rules.emplace(std::move(*loaded));
            }
            const auto decision = rules->explain(*path, std::filesystem::is_directory(status));
            if (!decision || decision->fate == config::TravelRules::Fate::travels || decision->own)
                continue;
            const auto part = left_out_part(*rules, *path);
            if (!part) return std::nullopt;
            return fmt::format("'{}' exists in the project, but does not travel with runs ({}). {}",
                               printable(*path),
                               decision->rule,
                               remedy(*part, project, spec));
        }
    }
    return std::nullopt;
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "config/files/sbatch_lines.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ponk::config {

namespace {

constexpr std::string_view beginning = "#SBATCH";

constexpr std::array<std::pair<char, std::string_view>, 35> long_names{
    {{'a', "array"},         {'A', "account"},       {'b', "begin"},      {'B', "extra-node-info"},
     {'c', "cpus-per-task"}, {'C', "constraint"},    {'d', "dependency"}, {'D', "chdir"},
     {'e', "error"},         {'F', "nodefile"},      {'G', "gpus"},       {'H', "hold"},
     {'i', "input"},         {'J', "job-name"},      {'k', "no-kill"},    {'L', "licenses"},
     {'m', "distribution"},  {'M', "clusters"},      {'n', "ntasks"},     {'N', "nodes"},
     {'o', "output"},        {'O', "overcommit"},    {'p', "partition"},  {'q', "qos"},
     {'Q', "quiet"},         {'s', "oversubscribe"}, {'S', "core-spec"},  {'t', "time"},
     {'v', "verbose"},       {'w', "nodelist"},      {'W', "wait"},       {'x', "exclude"},
     {'h', "help"},          {'u', "usage"},         {'V', "version"}}};

// Words between blanks; quotation marks keep blanks, '#' begins a comment.
std::vector<std::string> words_of(std::string_view line)
{
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = '\0';
    for (const char c : line) {
        if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            } else {
                word += c;
            }
        } else if (c == '"' || c == '\'') {
            quote = c;
            in_word = true;
        } else if (c == '#' && !in_word) {
            break;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            if (in_word) words.push_back(std::exchange(word, {}));
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (in_word) words.push_back(std::move(word));
    return words;
}

Error unreadable(std::string_view script, unsigned line, const std::string& word)
{
    return {ErrorKind::invalid_argument,
            fmt::format(
                "{}:{}: '{}' is not an option of sbatch", printable(script), line, printable(word)),
            "Write options as '#SBATCH --partition=gpu' or '#SBATCH -p gpu'."};
}

Result<> read_line(std::string_view script,
                   unsigned line,
                   const std::vector<std::string>& words,
                   std::vector<SbatchOption>& options)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        SbatchOption option{.name = {}, .value = {}, .line = line};
        if (word.starts_with("--") && word.size() > 2) {
            const auto equals = word.find('=');
            option.name = word.substr(2, equals - 2);
            if (equals != word.npos) option.value = word.substr(equals + 1);
            if (equals == word.npos && i + 1 < words.size() && !words[i + 1].starts_with('-'))
                option.value = words[++i];
        } else if (word.size() > 1 && word[0] == '-') {
            const auto found =
                std::ranges::find(long_names, word[1], &std::pair<char, std::string_view>::first);
            if (found == long_names.end())
                return tl::unexpected(unreadable(script, line, words[i]));
            option.name = found->second;
            option.value = word.substr(2);
            if (option.value.starts_with('=')) option.value.erase(0, 1);
            if (option.value.empty() && i + 1 < words.size() && !words[i + 1].starts_with('-'))
                option.value = words[++i];
        } else {
            // "hetjob" and "packjob" begin a second job.
            return tl::unexpected(unreadable(script, line, words[i]));
        }
        options.push_back(std::move(option));
    }
    return {};
}

}  // namespace

Result<std::vector<SbatchOption>> parse_sbatch_lines(std::string_view script, std::string_view text)
{
    std::vector<SbatchOption> options;
    unsigned number = 0;
    while (!text.empty()) {
        ++number;
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.starts_with(beginning)) {
            const auto rest = line.substr(beginning.size());
            if (rest.empty() || rest[0] == ' ' || rest[0] == '\t')
                TRY(read_line(script, number, words_of(rest), options));
            continue;
        }
        const auto content = trim(line);
        if (!content.empty() && content[0] != '#') break;
    }
    return options;
}

}  // namespace ponk::config

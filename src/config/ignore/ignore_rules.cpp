// SPDX-License-Identifier: Apache-2.0
#include "config/ignore/ignore_rules.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace ponk::config {

namespace {

constexpr std::uint64_t size_limit = std::uint64_t{1} << 20;
// Each file of a project is compared with each rule.
constexpr std::size_t most_rules = 10'000;

// Blanks at the end go, unless a backslash keeps them.
std::string_view without_trailing_blanks(std::string_view line)
{
    std::size_t end = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') {
            ++i;
            end = std::min(i + 1, line.size());
        } else if (line[i] != ' ') {
            end = i + 1;
        }
    }
    return line.substr(0, end);
}

}  // namespace

IgnoreRules IgnoreRules::parse(std::string_view text)
{
    IgnoreRules rules;
    rules.add_lines(text);
    return rules;
}

Result<std::optional<IgnoreRules>> IgnoreRules::read(const os::Path& file, os::Links links)
{
    struct stat info {};
    if (links == os::Links::refuse && ::lstat(file.c_str(), &info) == 0 &&
        (S_ISLNK(info.st_mode) || S_ISDIR(info.st_mode)))
        return std::optional<IgnoreRules>();
    if (::stat(file.c_str(), &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3))
        return std::optional<IgnoreRules>();
    const auto text = TRY(os::read_file_if_any(file, size_limit).map_error([](const Error& error) {
        return error.with_hint("It must be a file of ignore rules, of at most 1 MiB.");
    }));
    if (!text) {
        if (::lstat(file.c_str(), &info) != 0) return std::optional<IgnoreRules>();
        return tl::unexpected(
            Error(ErrorKind::invalid_argument,
                  os::in_quotes(file) + " is a link to a file that does not exist",
                  "Without it files would be stored that it keeps out; fix it or remove it."));
    }
    auto rules = parse(*text);
    if (rules.rules_.size() > most_rules) {
        return tl::unexpected(Error(
            ErrorKind::invalid_argument,
            fmt::format("{} has {} rules, more than the {} that can be compared with each "
                        "file of a project",
                        os::in_quotes(file),
                        rules.rules_.size(),
                        most_rules),
            "Leave out folders or kinds of files ('data/', '*.bin') instead of single files."));
    }
    return std::optional<IgnoreRules>(std::move(rules));
}

void IgnoreRules::add_lines(std::string_view text)
{
    text = without_byte_order_mark(text);
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t newline = text.find('\n');
        std::string_view line = text.substr(0, newline);
        text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        // git ends a line at a NUL byte, being C.
        add_line(line.substr(0, line.find('\0')), number);
    }
}

void IgnoreRules::add_line(std::string_view line, std::size_t number)
{
    if (line.starts_with('#')) return;
    line = without_trailing_blanks(line);
    Rule rule;
    rule.line = line;
    rule.number = number;
    if (line.starts_with('!')) {
        rule.include = true;
        line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
        rule.directories_only = true;
        line.remove_suffix(1);
    }
    if (line.empty()) return;
    rule.whole_path = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    // The part before the first wildcard is compared by itself and "**" right behind it counts as
    // the start of a pattern: that is how git does it, and it shows ("foo**/bar").
    const std::size_t special = std::min(line.find_first_of("*?[\\"), line.size());
    rule.literal = line.substr(0, special);
    if (special < line.size()) rule.rest.emplace(line.substr(special));
    // Names have no slash, so there the shortcut changes nothing.
    rules_.push_back(std::move(rule));
}

std::vector<std::string> IgnoreRules::lines() const
{
    std::vector<std::string> lines;
    for (const auto& rule : rules_)
        lines.push_back(rule.line);
    return lines;
}

bool IgnoreRules::Rule::matches(const Entry& entry) const
{
    std::string_view text = whole_path ? entry.path : entry.name;
    const auto& bytes = whole_path ? entry.path_bytes : entry.name_bytes;
    if (rest && (rest->needed() & ~bytes).any()) return false;
    if (!text.starts_with(literal)) return false;
    text.remove_prefix(literal.size());
    return rest ? rest->matches(text) : text.empty();
}

std::optional<IgnoreRules::Match> IgnoreRules::match(std::string_view relative_path,
                                                     bool is_directory) const
{
    const std::size_t slash = relative_path.rfind('/');
    const auto name = relative_path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const Entry entry{
        relative_path, name, Wildcard::bytes_of(relative_path), Wildcard::bytes_of(name)};
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
        if (rule->directories_only && !is_directory) continue;
        if (rule->matches(entry))
            return Match{rule->include, !rule->rest, rule->line, rule->number};
    }
    return std::nullopt;
}

bool IgnoreRules::ignores_entry(std::string_view relative_path, bool is_directory) const
{
    const auto found = match(relative_path, is_directory);
    return found && !found->include;
}

bool IgnoreRules::includes_below(std::string_view folder) const
{
    return std::any_of(rules_.begin(), rules_.end(), [folder](const Rule& rule) {
        return rule.include && rule.whole_path && rule.literal.size() > folder.size() &&
               rule.literal.starts_with(folder) && rule.literal[folder.size()] == '/';
    });
}

bool IgnoreRules::ignores(std::string_view relative_path, bool is_directory) const
{
    for (std::size_t slash = relative_path.find('/'); slash != std::string_view::npos;
         slash = relative_path.find('/', slash + 1)) {
        if (ignores_entry(relative_path.substr(0, slash), true)) return true;
    }
    return ignores_entry(relative_path, is_directory);
}

}  // namespace ponk::config

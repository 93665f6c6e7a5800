// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/help.hpp"

#include "base/text.hpp"
#include "output/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>
#include <vector>

namespace ponk::cli {
namespace {

constexpr int narrowest = 40;
constexpr int widest = 100;

// Appends `text`, broken at blanks, every line behind `indent` columns. The first line starts at
// column `at`. A newline in the text starts a new paragraph.
void wrap(std::string& out, std::string_view text, int at, int indent, int width)
{
    int column = at;
    bool first = true;
    for (const std::string& paragraph : split(text, '\n')) {
        if (!first) {
            out += '\n';
            column = 0;
        }
        first = false;
        for (const std::string& word : split(paragraph, ' ')) {
            const int size = static_cast<int>(display_width(word));
            if (column > indent && column + 1 + size > width) {
                out += '\n';
                column = 0;
            }
            if (column < indent) {
                out.append(static_cast<std::size_t>(indent - column), ' ');
                column = indent;
            } else if (column > indent) {
                out += ' ';
                ++column;
            }
            out += word;
            column += size;
        }
    }
    out += '\n';
}

struct Row {
    std::string label;
    std::string text;
};

// Labels on the left, texts beside them; a label that is too wide stands on a line of its own.
void two_columns(std::string& out, const std::vector<Row>& rows, int width)
{
    std::size_t longest = 0;
    for (const Row& row : rows)
        longest = std::max(longest, display_width(row.label));
    const int indent = static_cast<int>(std::min<std::size_t>(longest, width < 70 ? 18 : 30)) + 4;
    for (const Row& row : rows) {
        out += "  " + row.label;
        int at = 2 + static_cast<int>(display_width(row.label));
        if (at + 2 > indent) {
            out += '\n';
            at = 0;
        }
        wrap(out, row.text, at, indent, width);
    }
}

void section(std::string& out, std::string_view title)
{
    out += "\n";
    out += title;
    out += ":\n";
}

std::vector<Row> option_rows(std::span<const Option> options)
{
    std::vector<Row> rows;
    for (const Option& option : options) {
        if (option.shown == Option::Shown::yes) {
            rows.push_back({option_label(option), std::string(option.help)});
        }
    }
    return rows;
}

std::string aliases_text(const Command& command)
{
    std::vector<std::string> names;
    for (const std::string_view alias : command.aliases)
        names.push_back("ponk " + std::string(alias));
    return join(names, ", ");
}

std::string command_help(const Command& command, int width)
{
    std::string out = "Usage: ";
    wrap(out, usage_line(command), 7, 7, width);
    if (!command.aliases.empty()) out += "Short: " + aliases_text(command) + "\n";
    out += "\n";
    wrap(out, std::string(command.summary) + ".", 0, 0, width);
    if (!command.description.empty()) {
        out += "\n";
        wrap(out, command.description, 0, 0, width);
    }
    if (!command.positionals.empty()) {
        section(out, "Arguments");
        std::vector<Row> rows;
        for (const Positional& place : command.positionals) {
            rows.push_back({std::string(place.name), std::string(place.help)});
        }
        two_columns(out, rows, width);
    }
    if (const auto rows = option_rows(command.options); !rows.empty()) {
        section(out, "Options");
        two_columns(out, rows, width);
    }
    section(out, "Global options");
    two_columns(out, option_rows(global_options()), width);
    if (!command.examples.empty()) {
        section(out, "Examples");
        for (const Example& example : command.examples) {
            out += fmt::format("  {}\n", example.line);
            wrap(out, example.says, 0, 6, width);
        }
    }
    if (!command.exits.empty()) {
        section(out, "Exit code");
        wrap(out, command.exits, 0, 2, width);
    }
    return out;
}

std::string group_help(const Group& group, int width)
{
    std::string out = fmt::format("Usage: ponk {} COMMAND …\n\n", group.name);
    wrap(out, fmt::format("{}.", group.summary), 0, 0, width);
    section(out, "Commands");
    std::vector<Row> rows;
    const std::string head = std::string(group.name) + " ";
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no || !command->path.starts_with(head)) continue;
        rows.push_back(
            {std::string(command->path.substr(head.size())), std::string(command->summary)});
    }
    two_columns(out, rows, width);
    out += "\n";
    wrap(out, fmt::format("Run 'ponk {} COMMAND --help' for details.", group.name), 0, 0, width);
    return out;
}

std::string overview(int width)
{
    std::string out = "Usage: ponk COMMAND …\n\n";
    wrap(out,
         "ponk runs machine-learning scripts on this or another machine, and keeps every log, "
         "metric and output.",
         0,
         0,
         width);
    section(out, "Common commands");
    std::vector<Row> rows;
    for (const Command* command : commands()) {
        if (command->aliases.empty()) continue;
        rows.push_back({std::string(command->aliases[0]), std::string(command->summary)});
    }
    two_columns(out, rows, width);
    section(out, "Groups");
    rows.clear();
    for (const Group& group : groups()) {
        if (group.name.find(' ') == group.name.npos) {
            rows.push_back({std::string(group.name), std::string(group.summary)});
        }
    }
    two_columns(out, rows, width);
    section(out, "Others");
    rows.clear();
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no || command->path.find(' ') != command->path.npos)
            continue;
        rows.push_back({std::string(command->path), std::string(command->summary)});
    }
    two_columns(out, rows, width);
    section(out, "Global options");
    two_columns(out, option_rows(global_options()), width);
    out += "\n";
    wrap(out,
         "Start with 'ponk submit SCRIPT'. Run 'ponk COMMAND --help' or 'ponk man' for details.",
         0,
         0,
         width);
    return out;
}

}  // namespace

std::string option_label(const Option& option)
{
    std::string label;
    if (!option.brief.empty()) label += fmt::format("-{}, ", option.brief);
    label += fmt::format("--{}", option.name);
    if (!option.value.empty()) label += fmt::format(" {}", option.value);
    return label;
}

std::string usage_line(const Command& command)
{
    std::string line = fmt::format("ponk {} [OPTIONS]", command.path);
    for (const Positional& place : command.positionals) {
        const bool script = command.rest == Command::Rest::untouched;
        const std::string word = std::string(place.name) + (script ? " [ARGUMENTS…]" : "");
        switch (place.count) {
        case Positional::Count::one:
            line += " " + word;
            break;
        case Positional::Count::optional:
            line += " [" + word + "]";
            break;
        case Positional::Count::many:
            line += " [" + word + "…]";
            break;
        }
    }
    return line;
}

std::string help_text(const Invocation& words, int width)
{
    if (words.command != nullptr) return command_help(*words.command, width);
    if (const Group* group = find_group(words.path)) return group_help(*group, width);
    return overview(width);
}

std::string help_for_terminal(const Invocation& words)
{
    const output::Terminal terminal = output::detect_terminal(STDOUT_FILENO);
    std::string text =
        help_text(words, terminal.width == 0 ? 80 : std::clamp(terminal.width, narrowest, widest));
    constexpr std::string_view ellipsis = "…";
    for (std::size_t at = 0; !terminal.utf8 && (at = text.find(ellipsis, at)) != text.npos;)
        text.replace(at, ellipsis.size(), "...");
    return text;
}

}  // namespace ponk::cli

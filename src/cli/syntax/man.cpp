// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/man.hpp"

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/syntax/help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::cli {
namespace {

bool has_page(const Command& command)
{
    return command.shown == Command::Shown::yes && command.path.find(' ') == command.path.npos &&
           command.path != "help" && command.path != "version";
}

bool has_page(const Group& group)
{
    return group.name.find(' ') == group.name.npos;
}

// Text that roff prints as it is.
std::string roff(std::string_view text)
{
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        line_start = c == '\n';
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    return out;
}

void paragraphs(std::string& out, std::string_view text)
{
    bool first = true;
    for (const std::string& paragraph : split(text, '\n')) {
        if (!first) out += ".PP\n";
        first = false;
        out += roff(paragraph) + "\n";
    }
}

void tagged(std::string& out, const std::string& tag, std::string_view text)
{
    out += ".TP\n.B " + roff(tag) + "\n" + roff(text) + "\n";
}

void options(std::string& out, std::span<const Option> all)
{
    for (const Option& option : all) {
        if (option.shown == Option::Shown::yes) tagged(out, option_label(option), option.help);
    }
}

void header(std::string& out, std::string_view page, std::string_view summary)
{
    out += fmt::format(".TH {} 1 \"\" \"ponk {}\" \"ponk manual\"\n", roff(page), own_version());
    out += fmt::format(".SH NAME\n{} \\- {}\n", roff(page), roff(summary));
}

void exit_codes(std::string& out)
{
    out += ".SH EXIT STATUS\n";
    out += roff("Commands that follow a run exit with the script's code, or 128+n for signal n. A "
                "failure of ponk itself ends with the line 'ponk: error: …' and one of these "
                "codes. Code 79 is not a failure; its last line is 'ponk: detached: …':") +
           "\n";
    for (const ExitCodeRow& row : exit_code_table()) {
        tagged(out, std::to_string(row.code), fmt::format("{}: {}.", row.word, row.meaning));
    }
}

void describe(std::string& out, const Command& command)
{
    out += ".PP\n.B " + roff(usage_line(command)) + "\n.PP\n";
    for (const std::string_view alias : command.aliases) {
        out += roff(fmt::format("Short form: ponk {}.", alias)) + "\n.PP\n";
    }
    paragraphs(out, std::string(command.summary) + ".");
    if (!command.description.empty()) {
        out += ".PP\n";
        paragraphs(out, command.description);
    }
    for (const Positional& place : command.positionals)
        tagged(out, std::string(place.name), place.help);
    options(out, command.options);
    if (!command.exits.empty()) {
        out += ".PP\nExit code: ";
        paragraphs(out, command.exits);
    }
    for (const Example& example : command.examples) {
        out +=
            ".PP\n" + roff(example.says) + "\n.RS 4\n.nf\n" + roff(example.line) + "\n.fi\n.RE\n";
    }
}

std::string group_page(const Group& group)
{
    std::string out;
    const std::string page = "ponk-" + std::string(group.name);
    header(out, page, group.summary);
    out += fmt::format(".SH SYNOPSIS\n.B ponk {}\n.I COMMAND\n[OPTIONS]\n", roff(group.name));
    out += ".SH COMMANDS\n";
    const std::string head = std::string(group.name) + " ";
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no || !command->path.starts_with(head)) continue;
        out += ".SS " + roff(command->path.substr(head.size())) + "\n";
        describe(out, *command);
    }
    out += ".SH GLOBAL OPTIONS\n";
    options(out, global_options());
    exit_codes(out);
    out += ".SH SEE ALSO\n.BR ponk (1)\n";
    return out;
}

std::string command_page(const Command& command)
{
    std::string out;
    header(out, "ponk-" + std::string(command.path), command.summary);
    out += ".SH DESCRIPTION\n";
    describe(out, command);
    out += ".SH GLOBAL OPTIONS\n";
    options(out, global_options());
    exit_codes(out);
    out += ".SH SEE ALSO\n.BR ponk (1)\n";
    return out;
}

std::string readers_of_servers()
{
    std::vector<std::string> names;
    for (const Command* command : commands()) {
        if (command->history == Command::History::any) names.emplace_back(command->path);
    }
    return join(names, ", ");
}

std::string main_page()
{
    std::string out;
    header(out, "ponk", "run machine-learning scripts and keep their results");
    out += ".SH SYNOPSIS\n.B ponk\n.I COMMAND\n[OPTIONS]\n.SH DESCRIPTION\n";
    paragraphs(out,
               "ponk runs machine-learning scripts on this or another machine, and keeps every "
               "log, metric and output.\n'ponk ml X' is the same as 'ponk X', so that old 'az ml' "
               "commands work with 'alias az=ponk'. Started under the name az, ponk runs 'az ml …' "
               "itself and passes everything else to the next az on PATH.");
    out += ".SH COMMANDS\n";
    for (const Command* command : commands()) {
        if (command->shown == Command::Shown::no) continue;
        std::string tag = "ponk " + std::string(command->path);
        for (const std::string_view alias : command->aliases)
            tag += fmt::format(", ponk {}", alias);
        tagged(out, tag, std::string(command->summary) + ".");
    }
    out += ".SH GLOBAL OPTIONS\n";
    options(out, global_options());
    exit_codes(out);
    out += ".SH ENVIRONMENT\n";
    tagged(out,
           "PONK_HOME",
           "Folder for ponk's files. Default: $XDG_DATA_HOME/ponk, else ~/.local/share/ponk.");
    tagged(out,
           "PONK_SERVER",
           "Address of a team server (ponk serve), https://HOST:PORT, that these commands ask "
           "instead of this machine: " +
               readers_of_servers() +
               ". Others end with an error. --server URL comes before it; 'here' is this machine.");
    tagged(out,
           "PONK_SERVER_TOKEN_FILE",
           "File with the token for it; others must not be able to read the file.");
    tagged(out, "PONK_SERVER_TOKEN", "The token itself. It comes before the file.");
    tagged(out,
           "PONK_SERVER_CERT",
           "PEM file with the certificate of the server's authority, or its own. Default: what the "
           "system trusts.");
    tagged(out,
           "PONK_SERVER_INSECURE",
           "1 allows http:// to a server on another machine: the token can be read on the way.");
    tagged(out, "PONK_SAMPLES", "Folder of the samples.");
    tagged(out, "NO_COLOR", "If set, output has no colours.");
    tagged(out, "COLUMNS", "Width of tables.");
    out += ".SH SEE ALSO\n";
    std::vector<std::string> pages;
    for (const std::string& name : man_page_names()) {
        if (name != "ponk") pages.push_back(".BR " + roff(name) + " (1)");
    }
    out += join(pages, ",\n") + "\n";
    return out;
}

}  // namespace

std::vector<std::string> man_page_names()
{
    std::vector<std::string> names{"ponk"};
    for (const Group& group : groups()) {
        if (has_page(group)) names.push_back("ponk-" + std::string(group.name));
    }
    for (const Command* command : commands()) {
        if (has_page(*command)) names.push_back("ponk-" + std::string(command->path));
    }
    return names;
}

std::string man_page_of(std::string_view what)
{
    if (what.starts_with("ponk-")) what.remove_prefix(5);
    if (what == "ponk" || what == "help" || what == "version") return "ponk";
    std::string_view path = what;
    if (const Command* command = find_command(what)) path = command->path;
    if (const Group* group = find_group(what)) path = group->name;
    const std::string name = "ponk-" + std::string(path.substr(0, path.find(' ')));
    const auto names = man_page_names();
    return std::ranges::find(names, name) != names.end() ? name : "";
}

std::string man_page(std::string_view name)
{
    if (name == "ponk") return main_page();
    const std::string_view what = name.substr(name.find('-') + 1);
    if (const Group* group = find_group(what)) return group_page(*group);
    if (const Command* command = find_command(what)) return command_page(*command);
    return "";
}

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/syntax/man.hpp"

#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/syntax/help.hpp"
#include "os/helper_environment.hpp"
#include "os/process.hpp"
#include "os/variables.hpp"

#include <cstdlib>

namespace ponk::cli {
namespace man_command {

constexpr Option options[] = {
    {.name = "all-to",
     .value = "FOLDER",
     .help = "Write all pages into this folder.",
     .complete = Complete::folder},
    {.name = "roff", .help = "Print the source of the page instead."},
};
constexpr Positional positionals[] = {
    {.name = "NAME",
     .help = "A group or command: 'experiment'.",
     .count = Positional::Count::many,
     .complete = Complete::page},
};
constexpr Example examples[] = {
    {"ponk man experiment", "Show the page of a group."},
    {"ponk man --all-to ~/.local/share/man/man1", "Install all pages."},
};

Outcome write_all_pages(Context& context, const os::Path& folder)
{
    TRY(os::make_directories(folder, 0755));
    std::size_t count = 0;
    for (const std::string& name : man_page_names()) {
        TRY(os::replace_file(folder / (name + ".1"), man_page(name), 0644, os::Durable::no));
        ++count;
    }
    context.note("wrote {} pages to {}", count, os::in_quotes(folder));
    return exit_code::success;
}

// Where there is no program to set a page, its help tells most of it.
Outcome print_help(Context& context, const std::string& name)
{
    std::vector<std::string> words;
    if (name != "ponk") words.push_back(name.substr(name.find('-') + 1));
    words.emplace_back("--help");
    const auto parsed = parse(words);
    if (!parsed) return tl::unexpected(failure_of_parse(parsed.error()));
    TRY(Context::print_text(help_for_terminal(*parsed)));
    context.note("the program 'man' is not installed, so this is the help text; '--roff' prints "
                 "the source of the page");
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    if (const auto folder = words.value("all-to")) return write_all_pages(context, *folder);
    const std::string name = words.words().empty() ? "ponk" : man_page_of(join(words.words(), " "));
    if (name.empty()) {
        return tl::unexpected(
            Failure(Error(ErrorKind::not_found,
                          fmt::format("no page '{}'", printable(join(words.words(), " "))),
                          "'ponk man' shows the first page, which lists the others.")));
    }
    const std::string page = man_page(name);
    if (words.has("roff")) {
        TRY(Context::print_text(page));
        return exit_code::success;
    }
    const char* path = ::getenv("PATH");
    if (!os::find_program("man", path != nullptr ? path : "")) return print_help(context, name);
    const os::Path project = TRY(context.project());
    const os::Path folder = TRY(os::make_temporary_directory("/tmp", "ponk-man-"));
    TRY(os::replace_file(folder / (name + ".1"), page, 0600, os::Durable::no));
    const auto child = os::spawn({.argv = {"man", "-l", (folder / (name + ".1")).string()},
                                  .env = os::helper_environment(os::own_variables(), project),
                                  .directory = "/"});
    const auto ended = child ? os::wait_for_exit(*child, after(std::chrono::hours(24)), {})
                                   .map([](const os::Exit& e) { return e.status(); })
                             : Result<int>(tl::unexpected(child.error()));
    TRY(os::remove_tree(folder));
    return TRY(ended);
}

}  // namespace man_command

constinit const Command cmd_man = {
    .path = "man",
    .summary = "Show a manual page",
    .description = "Uses the program 'man': with a pager on a terminal, as plain text in a pipe.",
    .options = man_command::options,
    .positionals = man_command::positionals,
    .examples = man_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::none,
    .run = man_command::run,
};

}  // namespace ponk::cli

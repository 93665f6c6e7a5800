// SPDX-License-Identifier: Apache-2.0
#include "engine/run/end_advice.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::engine {

namespace {

constexpr std::size_t most_lines = 200;

// "train.py", when the path is below one of the trees.
std::optional<std::string> in_tree(std::string_view path, const std::vector<os::Path>& trees)
{
    for (const auto& tree : trees) {
        const auto prefix = tree.native() + "/";
        if (path.starts_with(prefix)) return std::string(path.substr(prefix.size()));
    }
    return std::nullopt;
}

std::string_view until(std::string_view text, std::string_view stop)
{
    return text.substr(0, text.find(stop));
}

// "train.py:12" of the lines in which Python says where it is:
//   File "/…/train.py", line 12, in <module>
//   > /…/train.py(12)<module>()->None
std::optional<std::string> place_in(std::string_view line, const std::vector<os::Path>& trees)
{
    constexpr std::string_view in_traceback = "  File \"";
    constexpr std::string_view in_debugger = "> ";
    std::string_view path;
    std::string_view number;
    if (line.starts_with(in_traceback)) {
        const auto rest = line.substr(in_traceback.size());
        constexpr std::string_view between = "\", line ";
        const auto end = rest.find(between);
        if (end == rest.npos) return std::nullopt;
        path = rest.substr(0, end);
        number = until(rest.substr(end + between.size()), ",");
    } else if (line.starts_with(in_debugger)) {
        // The path may have parentheses, too: the last number in them is the line.
        const auto rest = until(line.substr(in_debugger.size()), "()");
        const auto close = rest.rfind(')');
        const auto open = close == rest.npos ? close : rest.rfind('(', close);
        if (open == rest.npos) return std::nullopt;
        path = rest.substr(0, open);
        number = rest.substr(open + 1, close - open - 1);
    } else {
        return std::nullopt;
    }
    const auto file = in_tree(path, trees);
    if (!file || !parse_integer(trim(number))) return std::nullopt;
    return fmt::format("{}:{}", printable(*file), trim(number));
}

}  // namespace

std::string survivors_text(const model::ExitRecord& exit)
{
    if (exit.cause != "script" || exit.survivors <= 0) return {};
    const bool one = exit.survivors == 1;
    auto text =
        fmt::format("{} process{} of the run still ran when the script ended, and ponk ended {}",
                    exit.survivors,
                    one ? "" : "es",
                    one ? "it" : "them");
    if (!exit.survivor_commands.empty()) text += ": " + printable(exit.survivor_commands);
    if (exit.unkillable > 0)
        text += fmt::format(" ({} did not end, even with SIGKILL)", exit.unkillable);
    return text;
}

std::optional<std::string> advise_on_empty_input(std::string_view log,
                                                 const std::vector<os::Path>& trees,
                                                 const model::RunSpec& spec)
{
    const auto lines = split(log, '\n');
    const auto first = lines.size() > most_lines ? lines.size() - most_lines : 0;
    // What ended the script is at the end; a program may go on after a caught one.
    std::size_t end = lines.size();
    while (end > first && trim(lines[end - 1]).empty())
        --end;
    // Who typed Ctrl-D knows why it ended.
    if (end == first || spec.program.interactive) return std::nullopt;
    const std::string_view last = lines[end - 1];
    const bool debugger = last == "bdb.BdbQuit";
    if (!debugger && !last.starts_with("EOFError: EOF when reading a line")) return std::nullopt;
    std::string where;
    for (auto at = end; at > first && where.empty(); --at)
        if (const auto place = place_in(lines[at - 1], trees)) where = *place + ": ";
    if (debugger) {
        return fmt::format(
            "{0}a breakpoint waits for a user, but a run has no standard input. Remove it, or "
            "switch breakpoints off: ponk submit --env PYTHONBREAKPOINT=0 {1}; to debug on a "
            "terminal: ponk submit --interactive {1}",
            where,
            shell_word(spec.program.script));
    }
    return fmt::format(
        "{0}input() waits for a user, but a run has no standard input. Pass the value as an "
        "argument (sys.argv), or as a variable: ponk submit --env NAME=VALUE {1}; or type it: "
        "ponk submit --interactive {1}",
        where,
        shell_word(spec.program.script));
}

}  // namespace ponk::engine

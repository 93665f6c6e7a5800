// SPDX-License-Identifier: Apache-2.0
#include "environment/tools/telling_line.hpp"

#include "base/text.hpp"

#include <vector>

namespace ponk::environment {

namespace {

constexpr std::size_t longest = 300;

bool tells_why(std::string_view line)
{
    const auto text = lower(line);
    const auto says = [&text](std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    if (says("for help visit")) return false;
    return text.starts_with("error") || says("no set of packages fits") ||
           says("no solution found") || says("could not solve") || says("nothing provides");
}

// Without the mark in front and the branches of a drawn tree.
std::string plain(std::string_view line)
{
    line = trim(line);
    for (const std::string_view mark : {"ERROR:", "error:", "Error:"}) {
        if (line.starts_with(mark)) line.remove_prefix(mark.size());
    }
    for (bool again = true; again;) {
        again = false;
        line = trim(line);
        for (const std::string_view branch : {"├", "└", "│", "─", "|", "`", "×", "╰", "▶"}) {
            if (!line.starts_with(branch)) continue;
            line.remove_prefix(branch.size());
            again = true;
        }
    }
    return std::string(line);
}

std::string shortened(std::string text)
{
    if (text.size() <= longest) return text;
    text.resize(longest);
    while (!is_utf8(text))
        text.pop_back();
    return text + "…";
}

// A line that only announces those below it.
bool goes_on(std::string_view line)
{
    return line.ends_with(':') || line.ends_with("incompatible") || line.ends_with("because");
}

}  // namespace

std::string telling_line(std::string_view output)
{
    std::vector<std::string> lines;
    for (const auto& line : split(output, '\n'))
        if (!trim(line).empty()) lines.emplace_back(trim(line));
    if (lines.empty()) return {};
    auto at = lines.size() - 1;
    for (auto i = lines.size(); i-- > 0;) {
        if (!tells_why(lines[i])) continue;
        at = i;
        break;
    }
    auto told = plain(lines[at]);
    // What is announced stands below it, often on several lines: the names are there.
    const bool all = goes_on(told);
    while (all && at + 1 < lines.size() && told.size() < longest)
        told += " " + plain(lines[++at]);
    while (told.ends_with(':'))
        told.pop_back();
    return shortened(std::move(told));
}

ErrorKind kind_of_failure(std::string_view output)
{
    const auto text = lower(output);
    for (const std::string_view part : {"no solution found",
                                        "conflicting dependencies",
                                        "no set of packages",
                                        "resolutionimpossible",
                                        "unsatisfiable",
                                        "could not find a version that satisfies",
                                        "no matching distribution",
                                        "was not found in the package registry",
                                        "no candidates were found"}) {
        if (text.find(part) != std::string::npos) return ErrorKind::invalid_argument;
    }
    return ErrorKind::unavailable;
}

}  // namespace ponk::environment

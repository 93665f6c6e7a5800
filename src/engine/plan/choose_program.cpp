// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/choose_program.hpp"

#include "base/text.hpp"
#include "engine/plan/notebook.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ponk::engine {

namespace {

constexpr std::uint64_t longest_script = std::uint64_t{1} << 20;

struct Language {
    std::string_view extension;
    std::string_view program;
    enum class Lines { any, unix_only } lines = Lines::any;
};
constexpr Language languages[] = {{".sh", "sh", Language::Lines::unix_only},
                                  {".bash", "bash", Language::Lines::unix_only},
                                  {".zsh", "zsh", Language::Lines::unix_only},
                                  {".r", "Rscript"},
                                  {".jl", "julia"}};

// The words of "#!/usr/bin/env bash" or "#!/bin/sh -e"; empty: there are none.
std::vector<std::string> first_line_program(std::string_view text)
{
    if (!text.starts_with("#!")) return {};
    auto line = std::string(trim(text.substr(2, text.find('\n') - 2)));
    std::replace(line.begin(), line.end(), '\t', ' ');
    auto words = split(line, ' ');
    std::erase(words, "");
    // The place of 'env' differs between machines; what it looks for is on PATH.
    const auto is_plain = [](const std::string& word) {
        return !word.starts_with('-') && word.find('=') == word.npos;
    };
    const bool by_env = words.size() > 1 && Path(words[0]).filename() == "env";
    const std::size_t name = by_env && words.size() > 2 && words[1] == "-S" ? 2 : 1;
    if (by_env && is_plain(words[name]))
        words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(name));
    return words;
}

bool names_python(const std::vector<std::string>& words)
{
    const auto name = lower(Path(words.front()).filename().native());
    return name.starts_with("python") || name.starts_with("pypy") || name == "uv";
}

// A shell takes the carriage return as part of a word: "command not found", or worse.
Result<> refuse_windows_lines(const std::string& script, std::string_view text)
{
    const auto at = text.find("\r\n");
    const auto lines = std::count(text.begin(), text.end(), '\n');
    std::ptrdiff_t windows = 0;
    for (auto next = at; next != text.npos; next = text.find("\r\n", next + 2))
        ++windows;
    // A few may be data of the script.
    if (at == text.npos || (at > text.find('\n') && 2 * windows < lines)) return {};
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return tl::unexpected(Error(
        ErrorKind::invalid_argument,
        fmt::format("{}:{}: the line ends as on Windows (CRLF), which shells do not understand",
                    printable(script),
                    line),
        fmt::format("Convert it: sed -i 's/\\r$//' {}", shell_word(script))));
}

// Text of any kind can be a Python program by accident: '# notes' and '{"lr": 0.1}' are.
Result<> refuse_other_files(const model::Program& program, const std::string& extension)
{
    constexpr std::string_view of_python[] = {"", ".pyc", ".pyz", ".zip", ".egg"};
    const bool hidden = Path(program.script).filename().native().starts_with('.');
    if (!hidden && std::ranges::count(of_python, extension) > 0) return {};
    return tl::unexpected(Error(
        ErrorKind::invalid_argument,
        fmt::format("{} is not a program: it is neither Python ('.py') nor a notebook nor a shell "
                    "script, and its first line names no interpreter ('#!')",
                    os::in_quotes(program.script)),
        fmt::format("If Python shall run it, say so: 'ponk submit -- python {}'.",
                    shell_word(program.script))));
}

}  // namespace

Result<> choose_program(ResolvedRun& run)
{
    auto& program = run.spec.program;
    if (!program.command.empty() || !program.module.empty() || is_preparation(run.spec)) return {};
    const auto extension = lower(Path(program.script).extension().native());
    // A file called .py is Python whatever its first line says: some start themselves by a shell.
    if (extension == ".py" || extension == ".pyw") return {};
    if (extension == model::notebook_extension) return plan_notebook(run);
    const auto file = os::open_regular(run.project / program.script, os::Links::follow);
    const auto text = file ? os::read_at(file->get(), 0, longest_script) : Result<std::string>("");
    if (!text) return tl::unexpected(text.error());
    auto words = first_line_program(*text);
    if (!words.empty() && names_python(words)) return {};
    const auto* const language =
        std::find_if(std::begin(languages), std::end(languages), [&](const Language& each) {
            return each.extension == extension;
        });
    if (words.empty() && language == std::end(languages))
        return refuse_other_files(program, extension);
    const auto by_shell = [](const std::string& word) {
        return Path(word).filename().native().ends_with("sh");
    };
    if (words.empty() ? language->lines == Language::Lines::unix_only : by_shell(words.front()))
        TRY(refuse_windows_lines(program.script, *text));
    if (words.empty()) words.emplace_back(language->program);
    words.push_back(script_as_started(program));
    words.insert(words.end(), program.arguments.begin(), program.arguments.end());
    program.command = std::move(words);
    return {};
}

}  // namespace ponk::engine

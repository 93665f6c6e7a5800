// SPDX-License-Identifier: Apache-2.0
#include "cli/pip.hpp"

#include "base/text.hpp"
#include "cli/syntax/exit_code.hpp"
#include "config/files/package.hpp"
#include "config/files/retired.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace ponk::cli {

namespace {

constexpr int refused = 1;

// Options of pip whose value is the next word, before and behind the name of its command.
constexpr std::array<std::string_view, 55> with_value{"--python",
                                                      "--log",
                                                      "--keyring-provider",
                                                      "--proxy",
                                                      "--retries",
                                                      "--resume-retries",
                                                      "--timeout",
                                                      "--default-timeout",
                                                      "--exists-action",
                                                      "--trusted-host",
                                                      "--cert",
                                                      "--client-cert",
                                                      "--cache-dir",
                                                      "--use-feature",
                                                      "--use-deprecated",
                                                      "-r",
                                                      "--requirement",
                                                      "--requirements-from-script",
                                                      "-c",
                                                      "--constraint",
                                                      "--build-constraint",
                                                      "-e",
                                                      "--editable",
                                                      "-t",
                                                      "--target",
                                                      "--platform",
                                                      "--python-version",
                                                      "--implementation",
                                                      "--abi",
                                                      "--root",
                                                      "--prefix",
                                                      "--src",
                                                      "--upgrade-strategy",
                                                      "-C",
                                                      "--config-setting",
                                                      "--config-settings",
                                                      "--global-option",
                                                      "--build-option",
                                                      "--no-binary",
                                                      "--only-binary",
                                                      "--progress-bar",
                                                      "--root-user-action",
                                                      "--report",
                                                      "--group",
                                                      "-i",
                                                      "--index-url",
                                                      "--pypi-url",
                                                      "--extra-index-url",
                                                      "-f",
                                                      "--find-links",
                                                      "-d",
                                                      "--dest",
                                                      "-w",
                                                      "--wheel-dir",
                                                      "--uploaded-prior-to"};

// Options without a value that share their beginning with some of those.
constexpr std::array<std::string_view, 14> without_value{"--pre",
                                                         "--prefer-binary",
                                                         "--require-hashes",
                                                         "--require-virtualenv",
                                                         "--require-venv",
                                                         "--isolated",
                                                         "--use-pep517",
                                                         "--user",
                                                         "--upgrade",
                                                         "--no-build-isolation",
                                                         "--no-cache-dir",
                                                         "--check-build-dependencies",
                                                         "--compile",
                                                         "--force-reinstall"};

// As pip reads them: a long one may be shortened as long as it could be no other.
bool takes_next_word(const std::string& word)
{
    const auto named = [&word](std::string_view name) { return name == word; };
    if (std::ranges::any_of(with_value, named)) return true;
    if (!word.starts_with("--") || word.find('=') != std::string::npos) return false;
    if (std::ranges::any_of(without_value, named)) return false;
    const auto begins = [&word](std::string_view name) { return name.starts_with(word); };
    return std::ranges::any_of(with_value, begins) && std::ranges::none_of(without_value, begins);
}

struct Call {
    std::string command;
    std::vector<std::string> operands;
};

Call call_of(const std::vector<std::string>& words)
{
    Call call;
    bool only_operands = false;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const auto& word = words[at];
        if (!only_operands && word == "--") {
            only_operands = true;
        } else if (!only_operands && word.size() > 1 && word.front() == '-') {
            if (takes_next_word(word)) ++at;
        } else if (call.command.empty()) {
            call.command = word;
        } else {
            call.operands.push_back(word);
        }
    }
    return call;
}

// A folder, a file, an address: whatever it is called, it is not looked for by a name.
bool is_place(const std::string& operand)
{
    return operand.find('/') != std::string::npos || operand == "." || operand.ends_with(".whl") ||
           operand.ends_with(".zip") || operand.ends_with(".gz");
}

std::string lines_about(const std::string& name, const config::Retired& gone)
{
    auto lines = fmt::format("ponk: the package '{}' {}\n  {}\n", name, gone.what, gone.instead);
    const bool has_other = !gone.substitute.empty() && gone.substitute != config::Retired::nothing;
    if (has_other) lines += fmt::format("  pip install {}\n", shell_word(gone.substitute));
    return lines;
}

}  // namespace

bool started_as_pip(const char* program)
{
    const std::string_view path = program;
    return path.substr(path.rfind('/') + 1) == "ponk-pip";
}

PipAdvice advise_on_pip(const std::vector<std::string>& words, const std::string& built_from)
{
    PipAdvice advice;
    const auto call = call_of(words);
    // Wherever the word is: an option that is not known here may have moved the command.
    const bool changes = std::ranges::any_of(
        words, [](const std::string& word) { return word == "install" || word == "uninstall"; });
    if (changes && !built_from.empty()) {
        advice.refusal = fmt::format(
            "ponk: this environment is built from '{}', and other runs use it: nothing is changed\n"
            "  Change that file: the next run has its packages.\n",
            printable(built_from));
        return advice;
    }
    if (call.command != "install" && call.command != "download" && call.command != "wheel")
        return advice;
    std::string refusal;
    for (const auto& operand : call.operands) {
        if (is_place(operand)) continue;
        const auto package = config::parse_package(operand, {}, config::Installer::pip);
        const auto* gone = config::find_retired_package(package.name);
        if (gone == nullptr) continue;
        (gone->installs ? advice.advice : refusal) += lines_about(printable(package.name), *gone);
    }
    if (!refusal.empty())
        advice.refusal = refusal + "ponk: nothing was installed; 'python -m pip' asks pip itself\n";
    return advice;
}

int run_as_pip(int argc, char** argv)
{
    if (argc < 3) {
        std::fputs("usage: ponk-pip PYTHON FILE WORDS…\nStarted by 'pip' of a command prompt.\n",
                   stderr);
        return exit_code::usage;
    }
    const std::vector<std::string> words(argv + 3, argv + argc);
    const auto advice = advise_on_pip(words, argv[2]);
    std::fputs(advice.advice.c_str(), stderr);
    if (advice.refusal) {
        std::fputs(advice.refusal->c_str(), stderr);
        return refused;
    }
    char module[] = "-m";
    char pip[] = "pip";
    std::vector<char*> line{argv[1], module, pip};
    line.insert(line.end(), argv + 3, argv + argc);
    line.push_back(nullptr);
    ::execv(argv[1], line.data());
    std::fprintf(stderr, "ponk: error: '%s' does not start: %s\n", argv[1], std::strerror(errno));
    return exit_code::unavailable;
}

}  // namespace ponk::cli

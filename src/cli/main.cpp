// SPDX-License-Identifier: Apache-2.0
#include "cli/main.hpp"

#include "base/seal.hpp"
#include "base/text.hpp"
#include "cli/az.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/pip.hpp"
#include "cli/syntax/help.hpp"
#include "cli/syntax/parse.hpp"
#include "cli/terminal/pager.hpp"
#include "ssh/askpass.hpp"

#include <csignal>
#include <cstring>
#include <unistd.h>

namespace ponk::cli {
namespace {

// A password on our own command line is overwritten at once, so that a process list does not show
// it for longer than it must.
void blank_passwords(const Command& command, std::vector<std::string>& words, char** argv)
{
    if (&command != &cmd_computetarget_attach) return;
    std::vector<std::size_t> secret;
    const auto blank = [&](std::size_t index, std::size_t offset) {
        char* word = argv[index];
        for (std::size_t i = offset; word[i] != '\0'; ++i)
            word[i] = '*';
        secret.push_back(index);
    };
    find_values(words, "password", "w", blank);
    find_values(words, "private-key-passphrase", "private-key-passphrase", blank);
    for (const std::size_t index : secret)
        wipe(words[index]);
}

void print_error(const Failure& failure, std::optional<output::Format> format, bool already_printed)
{
    const Error& error = failure.error;
    const bool document =
        format && (*format == output::Format::json || *format == output::Format::jsonc ||
                   *format == output::Format::yaml);
    if (document && !already_printed) {
        const JsonObject body{{"kind", to_string(error.kind())},
                              {"message", error.message()},
                              {"hint", error.hint()},
                              {"exit_code", failure.code}};
        [[maybe_unused]] const auto printed = Context::print_text(
            output::render(JsonObject{{"error", body}}, *format, output::Terminal{}));
    }
    std::string text;
    if (!error.hint().empty()) text += "ponk: hint: " + error.hint() + "\n";
    // The message may have several lines (all problems of a file); the last line is the one that
    // starts with our mark.
    const std::size_t newline = error.message().find('\n');
    if (newline == std::string::npos) {
        text += "ponk: error: " + error.message() + "\n";
    } else {
        text = error.message().substr(newline + 1) + "\n" + text +
               "ponk: error: " + error.message().substr(0, newline) + "\n";
    }
    [[maybe_unused]] const auto written = write_out(STDERR_FILENO, text, Passing::text);
}

// The format asked for, as far as it can be told from a line that may be wrong otherwise.
std::optional<output::Format> asked_format(const std::vector<std::string>& words)
{
    std::optional<output::Format> format;
    find_values(words, "output", "o", [&](std::size_t index, std::size_t offset) {
        const auto parsed = output::parse_format(std::string_view(words[index]).substr(offset));
        if (parsed) format = *parsed;
    });
    return format;
}

// Who reads our output and has enough goes away (`ponk runs | head`): we end as every program does
// then, without a word, even where whoever started us ignores that signal.
void end_with_the_reader()
{
    sigset_t broken_pipe;
    ::sigemptyset(&broken_pipe);
    ::sigaddset(&broken_pipe, SIGPIPE);
    ::signal(SIGPIPE, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &broken_pipe, nullptr);
}

// Only for what can be long and comes at once: who follows a run sees its lines as they come.
std::optional<Pager> start_pager(const Invocation& words)
{
    if (words.has("no-pager") || words.has("follow")) return std::nullopt;
    const bool shows_help = words.help || words.command == nullptr;
    if (!shows_help && words.command->paged == Command::Paged::no) return std::nullopt;
    return Pager::start();
}

int run(std::vector<std::string> words, char** argv, const Entry& entry)
{
    const auto parsed = parse(words);
    if (!parsed) {
        const Failure failure = failure_of_parse(parsed.error());
        print_error(failure, asked_format(words), false);
        return failure.code;
    }
    if (parsed->help || parsed->command == nullptr) {
        const auto pager = start_pager(*parsed);
        const auto printed = Context::print_text(help_for_terminal(*parsed));
        if (!printed) return exit_code::damaged;
        // A group alone is a question, not a mistake; so is nothing at all.
        return exit_code::success;
    }
    blank_passwords(*parsed->command, words, argv);
    auto context = Context::make(entry, *parsed);
    if (!context) {
        print_error(Failure(context.error(), exit_code::usage), asked_format(words), false);
        return exit_code::usage;
    }
    auto pager = start_pager(*parsed);
    const Outcome outcome = parsed->command->run(*context, *parsed);
    // Why it failed is told when the reader has left the pager.
    pager.reset();
    if (outcome) return *outcome;
    print_error(outcome.error(), context->asked_format(), context->has_printed());
    return outcome.error().code;
}

}  // namespace

int main_entry(int argc, char** argv, const Entry& entry)
{
    if (const auto asked = ssh::run_as_askpass(argc, argv)) return *asked;
    end_with_the_reader();
    if (argc > 0 && started_as_pip(argv[0])) return run_as_pip(argc, argv);
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (argc > 0 && started_as_az(argv[0])) {
        if (words.empty() || words[0] != "ml") {
            const Error error = pass_to_az(argv);
            print_error(Failure(error), std::nullopt, false);
            return exit_code_of(error.kind());
        }
    }
    return run(std::move(words), argv + std::min(argc, 1), entry);
}

}  // namespace ponk::cli

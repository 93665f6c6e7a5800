// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "output/terminal.hpp"
#include "query/jmespath.hpp"

#include <cerrno>
#include <unistd.h>

namespace ponk::cli {
namespace query_command {

constexpr Positional positionals[] = {
    {.name = "EXPRESSION", .help = "A JMESPath expression."},
    {.name = "FILE",
     .help = "A JSON document. Default, or '-': standard input.",
     .count = Positional::Count::optional,
     .complete = Complete::file},
};
constexpr Example examples[] = {
    {"ponk query 'max_by(@, &loss).run_id' runs.json", "Query a file."},
    {"curl -s https://example.org/data.json | ponk query 'items[].name' -o tsv",
     "Query the output of another program."},
};
constexpr std::size_t most_bytes = std::size_t{1} << 30;

Result<std::string> read_input()
{
    std::string text;
    std::string block(std::size_t{64} << 10, '\0');
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "read standard input");
        if (got == 0) return text;
        text.append(block, 0, static_cast<std::size_t>(got));
        if (text.size() > most_bytes) {
            return fail(ErrorKind::invalid_argument, "standard input is larger than 1 GiB");
        }
    }
}

Result<std::string> read_document(const std::string& file)
{
    return os::read_file(file).map_error([&](const Error& error) {
        if (error.kind() != ErrorKind::not_found) return error;
        return Error(ErrorKind::not_found,
                     fmt::format("file {} does not exist", os::in_quotes(file)),
                     "Give an existing JSON file, or pass the document on standard input.");
    });
}

Outcome run(Context& context, const Invocation& words)
{
    const auto expression = query::parse_jmespath(*words.word(0));
    if (!expression) return tl::unexpected(Failure(expression.error(), exit_code::usage));
    const std::string file = words.word(1).value_or("-");
    const std::string text = file == "-" ? TRY(read_input()) : TRY(read_document(file));
    const Json document = TRY(
        parse_json(without_byte_order_mark(text),
                   {.depth = 512, .bytes = most_bytes, .values = JsonLimits::any_number})
            .map_error(while_doing("{}", file == "-" ? "standard input" : os::in_quotes(file))));
    const Json selected = TRY(expression->search(document));
    if (context.has_query()) return context.print(selected);
    const auto format = context.asked_format().value_or(output::Format::json);
    TRY(Context::print_text(
        output::render(selected, format, output::detect_terminal(STDOUT_FILENO)),
        passing_of(format)));
    return exit_code::success;
}

}  // namespace query_command

constinit const Command cmd_query = {
    .path = "query",
    .summary = "Apply a JMESPath expression to a JSON document",
    .description = "Applies the language of --query to any document. Prints JSON unless -o sets "
                   "another format.",
    .positionals = query_command::positionals,
    .examples = query_command::examples,
    .history = Command::History::none,
    .exits = "64 if the expression is invalid; 65 if the document is invalid or does not fit the "
             "expression.",
    .run = query_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "config/project/check.hpp"

#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "config/project/config_file.hpp"
#include "config/project/nearby.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    {.name = "dump",
     .value = "FILE",
     .help = "Print what this file says and what it was understood to mean.",
     .complete = Complete::file},
};
constexpr Positional positionals[] = {
    {.name = "FILE",
     .help = "Files to look at. Default: all configuration files of the project.",
     .count = Positional::Count::many,
     .complete = Complete::file},
};
constexpr Example examples[] = {
    {"ponk check", "All problems of this project, with line and column."},
    {"ponk check aml_config/docker.compute -o json", "One file, for an editor."},
    {"ponk check --dump aml_config/docker.runconfig -o json", "What ponk understood."},
};

int code_of(const config::Diagnostics& remarks)
{
    return config::has_errors(remarks) ? exit_code::invalid : exit_code::success;
}

Outcome report(Context& context, const config::Diagnostics& remarks)
{
    if (context.format() != output::Format::table || context.has_query()) {
        TRY(context.print(config::to_json(remarks)));
        return code_of(remarks);
    }
    std::string text;
    std::size_t errors = 0;
    for (const config::Diagnostic& remark : remarks) {
        text += config::to_text(remark) + "\n";
        if (!remark.hint.empty()) text += "    " + remark.hint + "\n";
        if (remark.severity == config::Severity::error) ++errors;
    }
    TRY(Context::print_text(text, Passing::text));
    const std::size_t others = remarks.size() - errors;
    context.note("{} error{}, {} other remark{}",
                 errors,
                 errors == 1 ? "" : "s",
                 others,
                 others == 1 ? "" : "s");
    return code_of(remarks);
}

// Silence would look like praise.
Outcome nothing_to_check(Context& context, const os::Path& folder)
{
    if (context.format() != output::Format::table || context.has_query())
        TRY(context.print(config::to_json(config::Diagnostics{})));
    std::error_code problem;
    const std::string below = config::folder_with_configuration(folder);
    context.note("{} has no configuration files: nothing was checked{}",
                 os::in_quotes(folder),
                 std::filesystem::is_empty(folder, problem) ? "; the folder is empty" : "");
    if (!below.empty()) {
        context.note("hint: the folder {} below it has some: '--project {}'",
                     os::in_quotes(below),
                     shell_word(below));
    } else {
        context.note("hint: scripts run here with the defaults; 'ponk project create' makes a "
                     "folder with files to start from");
    }
    return exit_code::success;
}

Outcome dump(Context& context, const std::string& file)
{
    const config::FileDump found = config::dump_file(file);
    if (!found.document) return report(context, found.diagnostics);
    for (const config::Diagnostic& remark : found.diagnostics) {
        context.note("{}", config::to_text(remark));
    }
    if (context.asked_format() || context.has_query()) return context.print(*found.document);
    TRY(Context::print_text(to_json(*found.document, JsonStyle::pretty) + "\n"));
    return exit_code::success;
}

Outcome run(Context& context, const Invocation& words)
{
    if (const auto file = words.value("dump")) {
        if (!words.words().empty()) return fail_usage("'--dump' takes one file and no others");
        return dump(context, *file);
    }
    if (words.words().empty()) {
        const os::Path folder = TRY(context.project());
        const auto remarks = TRY(config::check_project(folder));
        if (remarks.empty() && TRY(config::configuration_files(folder)).empty())
            return nothing_to_check(context, folder);
        return report(context, remarks);
    }
    std::vector<os::Path> files(words.words().begin(), words.words().end());
    return report(context, config::check_files(files));
}

}  // namespace

constinit const Command cmd_check = {
    .path = "check",
    .summary = "Check the project's configuration files",
    .description =
        "Reads every .compute, .runconfig, conda, Spark and project file and says what is "
        "wrong, where, and what was probably meant. Needs no daemon.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .exits = "0 without errors (there may be warnings), 65 with errors.",
    .run = run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "config/project/check.hpp"

#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/check/script_check.hpp"
#include "cli/commands/commands.hpp"
#include "config/ignore/what_travels.hpp"
#include "config/packages/package_file.hpp"
#include "config/project/config_file.hpp"
#include "config/project/nearby.hpp"

#include <algorithm>
#include <iterator>

namespace ponk::cli {
namespace check_command {

constexpr Option options[] = {
    {.name = "files",
     .help = "List the files and folders of the project that do not travel with a run, each with "
             "the rule that leaves it out."},
    {.name = "dump",
     .value = "FILE",
     .help = "Print this file's content and how ponk interprets it.",
     .complete = Complete::file},
};
constexpr Positional positionals[] = {
    {.name = "FILE",
     .help = "Files to check: configuration files, Python scripts, notebooks. Default: all "
             "configuration files of the project.",
     .count = Positional::Count::many,
     .complete = Complete::file},
};
constexpr Example examples[] = {
    {"ponk check", "Show all problems of this project, with line and column."},
    {"ponk check aml_config/docker.compute -o json", "Check one file, with output for an editor."},
    {"ponk check train.py", "Show which modules and names a script needs that it will not find."},
    {"ponk check --files", "Show what does not travel with a run, and why."},
    {"ponk check --dump aml_config/docker.runconfig -o json", "Show how ponk interprets one file."},
};

int code_of(const config::Diagnostics& remarks)
{
    return config::has_errors(remarks) ? exit_code::invalid : exit_code::success;
}

// "2 warnings".
std::string count(const config::Diagnostics& remarks, config::Severity severity)
{
    const auto found = std::ranges::count(remarks, severity, &config::Diagnostic::severity);
    return fmt::format("{} {}{}", found, config::to_string(severity), found == 1 ? "" : "s");
}

Outcome report(Context& context, const config::Diagnostics& remarks)
{
    if (context.format() != output::Format::table || context.has_query()) {
        TRY(context.print(config::to_json(remarks)));
        return code_of(remarks);
    }
    std::string text;
    for (const config::Diagnostic& remark : remarks) {
        text += config::to_text(remark) + "\n";
        if (!remark.hint.empty()) text += "    " + remark.hint + "\n";
    }
    TRY(Context::print_text(text, Passing::text));
    context.note("{}, {}, {}",
                 count(remarks, config::Severity::error),
                 count(remarks, config::Severity::warning),
                 count(remarks, config::Severity::notice));
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
        context.note("hint: the folder {} has configuration files: use '--project {}'",
                     os::in_quotes(below),
                     shell_word(below));
    } else {
        context.note("hint: scripts run here with the defaults; 'ponk project create' creates a "
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

Outcome list_files(Context& context)
{
    const os::Path project = TRY(context.project());
    const auto found = TRY(config::what_travels(project, TRY(config::TravelRules::load(project))));
    JsonArray left_out;
    for (const auto& each : found.left_out)
        left_out.push_back(JsonObject{{"path", each.path}, {"rule", each.rule}});
    if (!found.tracked_secrets.empty())
        context.note("{}", config::secrets_notice(found.tracked_secrets));
    if (context.format() == output::Format::table && !context.has_query()) {
        TRY(context.print(Json(std::move(left_out))));
        context.note("{} files, {} travel with a run; {} left out",
                     found.files,
                     byte_size_text(found.bytes),
                     found.left_out.size());
        context.note(
            "hint: a line '!PATH' in .amlignore includes a path; 'ponk submit --input PATH' "
            "links data instead of storing it");
        return exit_code::success;
    }
    return context.print(JsonObject{{"files", static_cast<std::int64_t>(found.files)},
                                    {"bytes", static_cast<std::int64_t>(found.bytes)},
                                    {"left_out", std::move(left_out)}});
}

Outcome run(Context& context, const Invocation& words)
{
    if (words.has("files")) {
        if (!words.words().empty() || words.value("dump"))
            return fail_usage("'--files' lists the whole project and takes no file");
        return list_files(context);
    }
    if (const auto file = words.value("dump")) {
        if (!words.words().empty()) return fail_usage("'--dump' takes exactly one file");
        return dump(context, *file);
    }
    if (words.words().empty()) {
        const os::Path folder = TRY(context.project());
        auto remarks = TRY(config::check_project(folder));
        std::size_t package_files = 0;
        // Where aml_config says what is installed, the other files may be for other programs.
        std::error_code problem;
        if (!std::filesystem::is_directory(folder / "aml_config", problem)) {
            for (auto& remark : config::check_package_files(folder, package_files))
                remarks.push_back(std::move(remark));
        }
        if (package_files == 0 && TRY(config::configuration_files(folder)).empty())
            return nothing_to_check(context, folder);
        return report(context, remarks);
    }
    config::Diagnostics all;
    const auto append = [&all](config::Diagnostics more) {
        all.insert(
            all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    for (const auto& file : words.words()) {
        append(is_script_name(file) ? TRY(check_script(context, file))
                                    : config::check_files({file}));
    }
    return report(context, all);
}

}  // namespace check_command

constinit const Command cmd_check = {
    .path = "check",
    .summary = "Check the project's configuration files and scripts",
    .description =
        "Reads every .compute, .runconfig, conda, Spark and project file, and what else names "
        "packages "
        "(pyproject.toml, requirements.txt, environment.yml), and reports each problem: what is "
        "wrong, where, and what was probably meant. Of a script it reports modules that "
        "are missing, and names that newer packages do not have, with what takes their place, also "
        "in the project's modules that it imports; nothing is executed. Does not need the daemon.",
    .options = check_command::options,
    .positionals = check_command::positionals,
    .examples = check_command::examples,
    .paged = Command::Paged::yes,
    .history = Command::History::none,
    .exits = "0 if there are no errors (there may be warnings), 65 if there are.",
    .run = check_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/submission.hpp"
#include "cli/terminal/ask.hpp"

namespace ponk::cli {
namespace prune_command {

constexpr Option options[] = {
    {.name = "copies",
     .value = "AGE",
     .help = "Remove what runs left in their working copies if they ended this long ago: 12h, 7d. "
             "Default: 14d. 0 keeps all."},
    {.name = "environments",
     .value = "AGE",
     .help = "Remove environments that were not used for this long. Default: 30d. 0 keeps all."},
    {.name = "this-project", .help = "Only working copies of this project."},
    {.name = "dry-run", .help = "Only show what would be removed."},
    common::yes,
};
constexpr Example examples[] = {
    {"ponk prune --dry-run", "Show what can be removed."},
    {"ponk prune --copies 1h --this-project", "Remove the working copies of this project."},
};
constexpr std::chrono::minutes patience{60};
constexpr std::string_view usual_copies = "14d";
constexpr std::string_view usual_environments = "30d";
constexpr std::size_t most_lines = 10;

std::string size_text(std::int64_t bytes)
{
    return byte_size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

std::int64_t sum_of(const Json& list, std::string_view key)
{
    std::int64_t sum = 0;
    for (const Json& item : list.as_array())
        sum += item.integer(key);
    return sum;
}

std::string count_text(std::size_t count, std::string_view what)
{
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "working copies of 3 runs (12 files, 5 MiB), 1 environment (2 GiB)"; empty: nothing.
std::string summary(const Json& report)
{
    std::vector<std::string> parts;
    const auto& copies = report["copies"].as_array();
    const auto& environments = report["environments"].as_array();
    if (!copies.empty())
        parts.push_back(fmt::format(
            "the working copies of {} ({}, {})",
            count_text(copies.size(), "run"),
            count_text(static_cast<std::size_t>(sum_of(report["copies"], "files")), "file"),
            size_text(sum_of(report["copies"], "bytes"))));
    if (!environments.empty())
        parts.push_back(fmt::format("{} ({})",
                                    count_text(environments.size(), "environment"),
                                    size_text(sum_of(report["environments"], "bytes"))));
    if (report.integer("store_bytes") > 0)
        parts.push_back(fmt::format("{} of snapshots and outputs that no run uses",
                                    size_text(report.integer("store_bytes"))));
    return join(parts, ", ");
}

// Files that only a working copy has are lost: they are named.
void tell_losses(Context& context, const Json& report)
{
    std::size_t lines = 0;
    for (const Json& copy : report["copies"].as_array()) {
        if (copy.integer("files") == 0) continue;
        if (++lines > most_lines) {
            context.note("… and more; 'ponk prune --dry-run -o json' lists all");
            return;
        }
        context.note("run {} of {}: {} outside of outputs, {}",
                     copy.integer("run_number"),
                     printable(copy.text("project_path")),
                     count_text(static_cast<std::size_t>(copy.integer("files")), "file"),
                     size_text(copy.integer("bytes")));
    }
}

Result<std::int64_t>
seconds_of(const Invocation& words, std::string_view option, std::string_view usual)
{
    const auto text = words.value(option).value_or(std::string(usual));
    if (text.starts_with('0') && (text.size() == 1 || text == "0s" || text == "0d"))
        return std::int64_t{0};
    return parse_time_span(text);
}

// Who wants space now learns what is too young to go.
std::string kept_text(const Invocation& words)
{
    if (words.has("copies") || words.has("environments")) return "";
    return fmt::format(": working copies stay for {}, environments for {} ('--copies 1s', "
                       "'--environments 1h' remove them sooner)",
                       usual_copies,
                       usual_environments);
}

// Other hosts count the ages of their environments in hours.
Result<std::int64_t> hours_of(const Invocation& words, std::string_view option)
{
    const auto seconds = TRY(seconds_of(words, option, usual_environments));
    if (seconds % 3600 == 0) return seconds / 3600;
    return tl::unexpected(
        Error(ErrorKind::invalid_argument,
              fmt::format("'--{}' takes whole hours", option),
              fmt::format("Write '--{} 1h', say, or '--{} 0' to keep all.", option, option)));
}

Outcome run(Context& context, const Invocation& words)
{
    const auto copies = TRY(as_usage(seconds_of(words, "copies", usual_copies)));
    const auto environments = TRY(as_usage(hours_of(words, "environments")));
    JsonObject body{{"copies_seconds", copies}, {"environments_hours", environments}};
    if (words.has("this-project")) {
        const auto project = TRY(context.project_id());
        if (project.empty()) return context.done("this project has no runs: nothing to remove");
        body.set("project", project);
        body.set("environments_hours", 0);
    } else {
        body.set("store", true);
    }
    Daemon* daemon = TRY(context.daemon());
    auto question = body;
    question.set("dry_run", true);
    const Json plan =
        TRY(daemon->send("POST", "/prune", question, Daemon::Repeat::when_broken, patience));
    const auto what = summary(plan);
    const bool people = context.format() == output::Format::table && !context.has_query();
    if (words.has("dry-run")) {
        if (!people) return context.print(plan);
        tell_losses(context, plan);
        return context.done(what.empty() ? "nothing to remove but snapshots that no run uses" +
                                               kept_text(words)
                                         : "would remove " + what);
    }
    if (!what.empty() && !words.has("yes")) {
        tell_losses(context, plan);
        TRY(confirm(
            fmt::format("Remove {}? Files of working copies are in no other place.", what)));
    }
    const Json done = TRY(daemon->send("POST", "/prune", body, Daemon::Repeat::never, patience));
    for (const Json& problem : done["problems"].as_array())
        context.note("{}", printable(problem.as_string()));
    if (!people) return context.print(done);
    const auto removed = summary(done);
    return context.done(removed.empty() ? "nothing to remove" + kept_text(words)
                                        : "removed " + removed);
}

}  // namespace prune_command

constinit const Command cmd_prune = {
    .path = "prune",
    .summary = "Free disk space",
    .description =
        "Removes what runs left in their working copies, environments that are not used, and "
        "snapshots and outputs that no run uses any more. History, logs, metrics and outputs of "
        "runs are kept; 'ponk history delete' removes runs.\nThe daemon does the same by itself "
        "once a day: working copies of runs that ended more than PONK_COPY_KEEP_DAYS days ago "
        "(default 30), or while they take more than PONK_COPY_KEEP_SIZE bytes (default 50 GiB), "
        "the "
        "oldest first; 0 switches a limit off. The variables are those of the daemon.",
    .options = prune_command::options,
    .examples = prune_command::examples,
    .run = prune_command::run,
};

}  // namespace ponk::cli

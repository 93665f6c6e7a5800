// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/losses.hpp"
#include "cli/runs/run_search.hpp"
#include "cli/terminal/ask.hpp"
#include "model/run_words.hpp"

namespace ponk::cli {
namespace experiment_clean_command {

constexpr Option options[] = {
    common::run_option,
    {.name = "all", .brief = "a", .help = "Clean all runs of the project that have ended."},
    common::yes,
    common::ignored_target,
};
constexpr Positional positionals[] = {common::run};
constexpr Example examples[] = {
    {"ponk experiment clean --all", "Free the disk space of all finished runs of this project."},
};

// Tens of thousands of files take their time.
constexpr std::chrono::minutes patience{10};

// What is nowhere else goes only when the user said so; where nobody can be asked, '--yes' says it.
Result<>
warn_of_losses(const Context& context, const Invocation& words, const std::vector<Json>& runs)
{
    const auto files = note_losses(context, runs);
    if (files == 0 || words.has("yes")) return {};
    return confirm(fmt::format("Remove {}? 'ponk experiment return' copies files into the project.",
                               files == 1 ? "this file" : "these files"));
}

Outcome run(Context& context, const Invocation& words)
{
    Daemon* daemon = TRY(context.daemon());
    std::vector<Json> chosen;
    if (words.has("all")) {
        if (words.word(0) || words.has("run")) return fail_usage("give either RUN or '--all'");
        const std::string project = TRY(context.project_id());
        if (!project.empty()) {
            const JsonObject search{{"hidden", true}, {"project", project}};
            for (const Json& run : TRY(search_runs(*daemon, search, 0))) {
                if (!run["end_time_utc"].is_null() &&
                    run.text("target_type") != model::client_target)
                    chosen.push_back(run);
            }
        }
    } else {
        chosen.push_back(TRY(context.run(TRY(run_name(words)))));
    }
    TRY(warn_of_losses(context, words, chosen));
    std::vector<std::string> ids;
    for (const Json& each : chosen)
        ids.push_back(each.text("run_id"));
    std::int64_t freed = 0;
    std::size_t left = 0;
    std::size_t elsewhere = 0;
    for (const std::string& id : ids) {
        const auto answer = daemon->send(
            "POST", "/runs/" + id + "/clean", Json(JsonObject{}), Daemon::Repeat::never, patience);
        if (!answer && ids.size() == 1) return tl::unexpected(answer.error());
        if (!answer) {  // its machine may be away; the others are not
            context.note("run {}: not cleaned: {}", id.substr(24), answer.error().message());
            ++left;
            continue;
        }
        freed += answer->integer("freed_bytes");
        if (answer->boolean("elsewhere")) ++elsewhere;
    }
    const std::string runs = fmt::format("{} run{}", ids.size(), ids.size() == 1 ? "" : "s");
    std::string message =
        freed == 0 ? ""
                   : fmt::format(
                         "{} of {} freed", byte_size_text(static_cast<std::uint64_t>(freed)), runs);
    if (ids.empty()) message = "no run of this project has ended: nothing to clean";
    if (!ids.empty() && freed == 0 && elsewhere == 0)
        message = fmt::format("nothing to free: {} without a working copy", runs);
    if (elsewhere > 0)
        message += fmt::format("{}the working copies of {} on other machines are removed",
                               freed > 0 ? "; " : "",
                               elsewhere == 1 ? "1 run" : fmt::format("{} runs", elsewhere));
    if (left > 0) message += fmt::format("; {} could not be cleaned", left);
    return context.done(message,
                        {{"freed_bytes", freed},
                         {"runs", static_cast<std::int64_t>(ids.size() - left)},
                         {"not_cleaned", static_cast<std::int64_t>(left)}});
}

}  // namespace experiment_clean_command

constinit const Command cmd_experiment_clean = {
    .path = "experiment clean",
    .summary = "Remove the working copies of runs",
    .description =
        "Removes only the folders in which the scripts worked. History, logs and outputs are kept. "
        "Runs whose folders have files that nothing else has are named first.",
    .options = experiment_clean_command::options,
    .positionals = experiment_clean_command::positionals,
    .examples = experiment_clean_command::examples,
    .run = experiment_clean_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {
    common::run_option,
    {.name = "experiment",
     .value = "NAME",
     .help = "An experiment that was deleted as a whole, with all its runs."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Runs to bring back.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history list --deleted", "What could be brought back."},
    {"ponk history restore 4f1e 77ab", "Two of them."},
    {"ponk history restore --experiment vision", "An experiment and the runs in it."},
};

Outcome restore_experiment(Context& context, const std::string& name)
{
    TRY(TRY(context.daemon())->send("POST", "/experiments/restore", JsonObject{{"name", name}}));
    return context.done(fmt::format("experiment '{}' is back, with its runs", printable(name)),
                        {{"experiment", name}});
}

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    if (const auto name = words.value("run")) names.push_back(*name);
    if (const auto experiment = words.value("experiment")) {
        if (names.empty()) return restore_experiment(context, *experiment);
        return fail_usage("'history restore' takes runs or '--experiment', not both");
    }
    if (names.empty()) return fail_usage("'history restore' needs a run, or '--experiment NAME'");
    std::vector<Json> records;
    for (const std::string& name : names)
        records.push_back(TRY(context.run(name)));
    JsonArray restored;
    for (const Json& record : records) {
        const std::string id = record.text("run_id");
        if (record["deleted_utc"].is_null()) {
            context.note("run {} was not deleted", id);
            continue;
        }
        TRY(TRY(context.daemon())->send("PATCH", "/runs/" + id, JsonObject{{"deleted", false}}));
        restored.emplace_back(id);
    }
    const std::string sentence = restored.size() == 1
                                     ? "run " + restored[0].as_string() + " is back"
                                     : fmt::format("{} runs are back", restored.size());
    return context.done(sentence, {{"restored", std::move(restored)}});
}

}  // namespace

constinit const Command cmd_history_restore = {
    .path = "history restore",
    .summary = "Bring back runs and experiments that a client of the tracking API deleted",
    .description = "MLflow's clients only set runs aside: log, metrics and files stay until "
                   "'ponk history delete'. Where the experiment was deleted as a whole, it is back "
                   "with its first run. The files of a project as a run saw them: 'ponk project "
                   "restore'.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

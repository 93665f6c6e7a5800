// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"

namespace ponk::cli {
namespace history_restore_command {

constexpr Option options[] = {
    common::run_option,
    {.name = "experiment",
     .value = "NAME",
     .help = "Restore a deleted experiment with all its runs."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Runs to restore.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history list --deleted", "List the runs that can be restored."},
    {"ponk history restore 4f1e 77ab", "Restore two runs."},
    {"ponk history restore --experiment vision", "Restore an experiment and its runs."},
};

Outcome restore_experiment(Context& context, const std::string& name)
{
    TRY(TRY(context.daemon())->send("POST", "/experiments/restore", JsonObject{{"name", name}}));
    return context.done(fmt::format("experiment '{}' and its runs are restored", printable(name)),
                        {{"experiment", name}});
}

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    if (const auto name = words.value("run")) names.push_back(*name);
    if (const auto experiment = words.value("experiment")) {
        if (names.empty()) return restore_experiment(context, *experiment);
        return fail_usage("give runs or '--experiment', not both");
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
                                     ? "run " + restored[0].as_string() + " is restored"
                                     : fmt::format("{} runs are restored", restored.size());
    return context.done(sentence, {{"restored", std::move(restored)}});
}

}  // namespace history_restore_command

constinit const Command cmd_history_restore = {
    .path = "history restore",
    .summary = "Restore runs and experiments that a client of the tracking API deleted",
    .description =
        "MLflow clients only mark runs as deleted: log, metrics and files are kept until 'ponk "
        "history delete'. If the whole experiment was deleted, restoring its first run restores it "
        "too. To restore the files of a project, use 'ponk project restore'.",
    .options = history_restore_command::options,
    .positionals = history_restore_command::positionals,
    .examples = history_restore_command::examples,
    .run = history_restore_command::run,
};

}  // namespace ponk::cli

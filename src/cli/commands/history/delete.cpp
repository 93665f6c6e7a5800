// SPDX-License-Identifier: Apache-2.0
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/losses.hpp"
#include "cli/terminal/ask.hpp"

#include <algorithm>
#include <set>

namespace ponk::cli {
namespace history_delete_command {

constexpr Option options[] = {
    common::run_option,
    common::yes,
    {.name = "force",
     .help = "Also delete runs that hold files of registered models. Those model versions lose "
             "their files."},
};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Runs to delete.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history delete 4f1e 77ab --yes", "Delete two runs without confirmation."},
};

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    if (const auto name = words.value("run")) names.push_back(*name);
    if (names.empty()) return fail_usage("'history delete' needs a run");
    std::vector<std::string> ids;
    std::vector<Json> records;
    std::set<std::string> made;
    for (const std::string& name : names) {
        Json found = TRY(context.run(name));
        auto id = found.text("run_id");
        if (std::ranges::count(ids, id) > 0) continue;  // named twice
        const Json& record = records.emplace_back(std::move(found));
        ids.push_back(std::move(id));
        if (!record["child_runs"].is_array()) continue;
        for (const Json& one : record["child_runs"].as_array())
            made.insert(one.text("run_id"));
    }
    // Named, too, they go with the one that made them.
    std::erase_if(ids, [&made](const std::string& id) { return made.contains(id); });
    note_losses(context, records);
    if (!words.has("yes")) {
        TRY(confirm(fmt::format(
            "Delete {} with log, metrics and outputs{}?",
            ids.size() == 1 ? "run " + ids[0] : fmt::format("{} runs", ids.size()),
            made.empty()
                ? ""
                : fmt::format(", and {}",
                              made.size() == 1 ? "one child run"
                                               : fmt::format("{} child runs", made.size())))));
    }
    JsonArray deleted;
    for (const std::string& id : ids) {
        const Json done =
            TRY(TRY(context.daemon())
                    ->send("DELETE", "/runs/" + id + (words.has("force") ? "?force=1" : "")));
        deleted.emplace_back(id);
        if (!done["child_runs"].is_array()) continue;
        for (const Json& one : done["child_runs"].as_array())
            deleted.push_back(one);
    }
    const auto what =
        deleted.size() == 1 ? "run " + ids[0] : fmt::format("{} runs", deleted.size());
    return context.done(what + " deleted", {{"deleted", std::move(deleted)}});
}

}  // namespace history_delete_command

constinit const Command cmd_history_delete = {
    .path = "history delete",
    .summary = "Delete runs with their logs, metrics and outputs",
    .description = "Child runs are deleted too. Refused for a run that has not ended, and for a "
                   "run that holds files of a registered model.",
    .options = history_delete_command::options,
    .positionals = history_delete_command::positionals,
    .examples = history_delete_command::examples,
    .run = history_delete_command::run,
};

}  // namespace ponk::cli

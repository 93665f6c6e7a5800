// SPDX-License-Identifier: Apache-2.0
#include "cli/ask.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/context.hpp"

namespace ponk::cli {
namespace {

constexpr Option options[] = {common::run_option, common::yes};
constexpr Positional positionals[] = {
    {.name = "RUN",
     .help = "Runs to delete.",
     .count = Positional::Count::many,
     .complete = Complete::run},
};
constexpr Example examples[] = {
    {"ponk history delete 4f1e 77ab --yes", "Two runs, without being asked."},
};

Outcome run(Context& context, const Invocation& words)
{
    std::vector<std::string> names = words.words();
    if (const auto name = words.value("run")) names.push_back(*name);
    if (names.empty()) return fail_usage("'history delete' needs a run");
    std::vector<std::string> ids;
    for (const std::string& name : names)
        ids.push_back(TRY(context.run(name)).text("run_id"));
    if (!words.has("yes")) {
        TRY(confirm(
            fmt::format("Delete {} with log, metrics and outputs?",
                        ids.size() == 1 ? "run " + ids[0] : fmt::format("{} runs", ids.size()))));
    }
    JsonArray deleted;
    for (const std::string& id : ids) {
        TRY(TRY(context.daemon())->send("DELETE", "/runs/" + id));
        deleted.emplace_back(id);
    }
    return context.done(
        fmt::format("{} deleted",
                    ids.size() == 1 ? "run " + ids[0] : fmt::format("{} runs", ids.size())),
        {{"deleted", std::move(deleted)}});
}

}  // namespace

constinit const Command cmd_history_delete = {
    .path = "history delete",
    .summary = "Delete runs with their logs, metrics and outputs",
    .description = "Refused for a run that has not ended.",
    .options = options,
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

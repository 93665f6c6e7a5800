// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_change.hpp"

namespace ponk::cli {
namespace history_tag_command {

constexpr Option options[] = {
    {.name = "remove",
     .value = "KEY",
     .help = "Remove this tag. May be repeated.",
     .times = Option::Times::many},
};
constexpr Positional positionals[] = {
    common::one_run,
    {.name = "KEY=VALUE",
     .help = "Tags to set; 'KEY=' removes one.",
     .count = Positional::Count::many},
};
constexpr std::string_view aliases[] = {"tag"};
constexpr Example examples[] = {
    {"ponk tag last keep=yes team=vision", "Set two tags of the newest run."},
    {"ponk tag 4f1e keep= --remove team", "Remove both again."},
    {"ponk runs --filter \"tags.keep = 'yes'\"", "List the runs with a tag."},
};

tl::expected<JsonObject, Failure> tags_of(const Invocation& words)
{
    JsonObject tags;
    for (std::size_t i = 1; i < words.words().size(); ++i) {
        const std::string& word = words.words()[i];
        const auto sign = word.find('=');
        if (sign == std::string::npos || sign == 0)
            return fail_usage("'{}' is not KEY=VALUE", printable(word));
        const auto value = word.substr(sign + 1);
        tags.set(word.substr(0, sign), value.empty() ? Json() : Json(value));
    }
    for (const std::string& key : words.values("remove"))
        tags.set(key, Json());
    if (tags.empty()) return fail_usage("'history tag' needs KEY=VALUE or '--remove KEY'");
    return tags;
}

Outcome run(Context& context, const Invocation& words)
{
    JsonObject tags = TRY(tags_of(words));
    const Json changed =
        TRY(change_run(context, *words.word(0), {{"tags", Json(std::move(tags))}}));
    const auto text = words_text(changed["tags"]);
    return context.done(fmt::format("run {} has {}",
                                    changed.text("run_id"),
                                    text.empty() ? "no tags" : "the tags " + text),
                        {{"run_id", changed["run_id"]}, {"tags", changed["tags"]}});
}

}  // namespace history_tag_command

constinit const Command cmd_history_tag = {
    .path = "history tag",
    .aliases = history_tag_command::aliases,
    .summary = "Set and remove tags of a run",
    .description = "Works at any time, also while the run is in progress.",
    .options = history_tag_command::options,
    .positionals = history_tag_command::positionals,
    .examples = history_tag_command::examples,
    .run = history_tag_command::run,
};

}  // namespace ponk::cli

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/common_options.hpp"
#include "cli/runs/run_change.hpp"
#include "model/run_words.hpp"

namespace ponk::cli {
namespace history_note_command {

constexpr Positional positionals[] = {
    common::one_run,
    {.name = "TEXT",
     .help = "The note; several words become one text, an empty text removes the note.",
     .count = Positional::Count::many},
};
constexpr std::string_view aliases[] = {"note"};
constexpr Example examples[] = {
    {"ponk note last 'Diverged after step 400: lr too high'", "Write down what was seen."},
    {"ponk note last ''", "Remove the note."},
};

Outcome run(Context& context, const Invocation& words)
{
    if (words.words().size() < 2)
        return fail_usage("'history note' needs a text ('' removes the note)");
    const std::vector<std::string> parts(words.words().begin() + 1, words.words().end());
    const auto text = join(parts, " ");
    JsonObject tags{{std::string(model::note_tag), text.empty() ? Json() : Json(text)}};
    const Json changed =
        TRY(change_run(context, *words.word(0), {{"tags", Json(std::move(tags))}}));
    return context.done(
        fmt::format("run {} has {} note", changed.text("run_id"), text.empty() ? "no" : "this"),
        {{"run_id", changed["run_id"]}, {"note", changed["tags"][model::note_tag]}});
}

}  // namespace history_note_command

constinit const Command cmd_history_note = {
    .path = "history note",
    .aliases = history_note_command::aliases,
    .summary = "Attach a note to a run",
    .description = "'ponk history info' shows the note, and so do clients of MLflow: it is the tag "
                   "'mlflow.note.content'. A new note replaces the old one.",
    .positionals = history_note_command::positionals,
    .examples = history_note_command::examples,
    .run = history_note_command::run,
};

}  // namespace ponk::cli

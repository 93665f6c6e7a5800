// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

#include <chrono>
#include <filesystem>

namespace ponk::cli {
namespace {

// However large it is.
constexpr std::chrono::hours longest_copy(24);

constexpr Positional positionals[] = {
    {.name = "FILE", .help = "A new file for the copy.", .complete = Complete::file},
};
constexpr Example examples[] = {
    {"ponk history backup /backups/ponk-monday.db", "While runs go on."},
};

Outcome run(Context& context, const Invocation& words)
{
    std::error_code problem;
    const auto file = std::filesystem::absolute(words.words().at(0), problem).lexically_normal();
    if (problem) return fail_usage("the current folder is gone");
    const Json done = TRY(TRY(context.daemon())
                              ->send("POST",
                                     "/maintenance/backup",
                                     JsonObject{{"path", file.native()}},
                                     Daemon::Repeat::never,
                                     longest_copy));
    const os::Path home = TRY(context.home());
    context.note("to bring it back: 'ponk daemon stop', then put it in the place of {}",
                 os::in_quotes(home / "history" / "history.db"));
    return context.done(
        fmt::format("history is in {}, {}",
                    os::in_quotes(file),
                    byte_size_text(static_cast<std::uint64_t>(done.integer("size")))),
        {{"path", file.native()}, {"size", done.integer("size")}});
}

}  // namespace

constinit const Command cmd_history_backup = {
    .path = "history backup",
    .summary = "Copy the database of history while it is in use",
    .description =
        "The copy is complete and of one moment: runs, metrics, parameters, tags, models. Logs and "
        "files of runs are no part of it: they are folders below PONK_HOME that any program can "
        "copy. The daemon also keeps the last three days' copies by itself, in 'history/backups', "
        "and uses the newest sound one where the database is damaged.",
    .positionals = positionals,
    .examples = examples,
    .run = run,
};

}  // namespace ponk::cli

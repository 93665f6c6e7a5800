// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "cli/client/context.hpp"
#include "cli/commands/commands.hpp"

#include <chrono>
#include <filesystem>

namespace ponk::cli {
namespace history_backup_command {

// However large it is.
constexpr std::chrono::hours longest_copy(24);

constexpr Positional positionals[] = {
    {.name = "FILE", .help = "The file to create.", .complete = Complete::file},
};
constexpr Example examples[] = {
    {"ponk history backup /backups/ponk-monday.db", "Back up the history while runs are active."},
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
    context.note("to restore it: run 'ponk daemon stop', then replace {} with this file",
                 os::in_quotes(home / "history" / "history.db"));
    return context.done(
        fmt::format("backup written to {}, {}",
                    os::in_quotes(file),
                    byte_size_text(static_cast<std::uint64_t>(done.integer("size")))),
        {{"path", file.native()}, {"size", done.integer("size")}});
}

}  // namespace history_backup_command

constinit const Command cmd_history_backup = {
    .path = "history backup",
    .summary = "Back up the history database while it is in use",
    .description =
        "The copy is a complete and consistent snapshot of runs, metrics, parameters, tags and "
        "models. It does not contain logs and files of runs: those are folders in PONK_HOME that "
        "any program can copy. The daemon also keeps backups of the last three days in "
        "'history/backups', and restores the newest intact one if the database is damaged.",
    .positionals = history_backup_command::positionals,
    .examples = history_backup_command::examples,
    .run = history_backup_command::run,
};

}  // namespace ponk::cli

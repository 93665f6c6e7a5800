// SPDX-License-Identifier: Apache-2.0
#include "cli/runs/losses.hpp"

#include "base/text.hpp"

namespace ponk::cli {

std::int64_t note_losses(const Context& context, const std::vector<Json>& runs)
{
    constexpr std::size_t most_lines = 10;
    std::int64_t files = 0;
    std::size_t lines = 0;
    for (const Json& run : runs) {
        const Json& left = run["evidence"]["left"];
        if (left.integer("files") == 0) continue;
        files += left.integer("files");
        if (++lines > most_lines) continue;
        context.note("run {}: {} file{} outside of outputs, {}, {} in its working copy only",
                     run.text("run_id").substr(24),
                     left.integer("files"),
                     left.integer("files") == 1 ? "" : "s",
                     byte_size_text(static_cast<std::uint64_t>(left.integer("bytes"))),
                     left.integer("files") == 1 ? "is" : "are");
    }
    if (lines > most_lines) context.note("… and those of {} more runs", lines - most_lines);
    return files;
}

}  // namespace ponk::cli

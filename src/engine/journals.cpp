// SPDX-License-Identifier: Apache-2.0
#include "engine/journals.hpp"

#include "model/metric_journal.hpp"
#include "os/directory.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

constexpr std::size_t journal_block = std::size_t{4} << 20;

}  // namespace

void read_journals(const Context& context, const RunId& id, const RunSecrets& secrets)
{
    const auto folder = context.run_directory(id) / "journal";
    const auto entries = os::list_directory(folder);
    if (!entries) return;  // no metrics so far
    for (const auto& entry : *entries) {
        // The script can put anything here, under any name.
        if (secrets.hide(entry.name) != entry.name) continue;
        const auto file = os::open_regular(folder / entry.name, os::Links::refuse);
        auto offset = context.history.journal_offset(id, entry.name);
        while (file && offset) {
            const auto bytes = os::read_at(file->get(), *offset, journal_block);
            if (!bytes || bytes->empty()) break;
            auto piece = model::read_journal(*bytes, *offset);
            if (piece.next == *offset) break;
            secrets.hide(piece);
            store::JournalBatch batch{entry.name, *offset, piece.next, std::move(piece.points)};
            for (const auto& [key, value] : piece.params)
                static_cast<void>(context.history.set_tag(id, "param." + key, value));
            for (const auto& [key, value] : piece.tags)
                static_cast<void>(context.history.set_tag(id, key, value));
            if (!context.history.record_metrics(id, batch)) break;
            if (piece.damaged > 0) {
                context.tell(id,
                             "notice",
                             fmt::format("metric journal '{}': {} damaged bytes were skipped",
                                         entry.name,
                                         piece.damaged));
            }
            offset = piece.next;
        }
    }
}

}  // namespace ponk::engine

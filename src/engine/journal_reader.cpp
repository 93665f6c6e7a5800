// SPDX-License-Identifier: Apache-2.0
#include "engine/journal_reader.hpp"

#include "model/metric_journal.hpp"
#include "model/run_words.hpp"

#include <fmt/format.h>

namespace ponk::engine {

namespace {

using namespace std::chrono_literals;

constexpr auto interval = 100ms;
constexpr auto patience = 60s;
// Holds the largest record whole, wherever it begins.
constexpr std::size_t block = 2 * model::journal_record_limit;
constexpr int pieces_at_a_time = 16;

}  // namespace

JournalReader::JournalReader(const Context& context, RunId run)
    : context_(context), run_(std::move(run)), directory_(context_.run_directory(run_))
{
}

void JournalReader::note_length(std::uint64_t length)
{
    unread_ = unread_ || length != length_;
    length_ = length;
}

bool JournalReader::is_due() const
{
    return unread_ && Deadline::clock::now() >= next_;
}

void JournalReader::put_off()
{
    next_ = after(patience);
}

Deadline JournalReader::due() const
{
    return unread_ ? next_ : after(std::chrono::hours(24));
}

JournalReader::Progress JournalReader::read_some(const RunSecrets& secrets)
{
    int pieces = pieces_at_a_time;
    unread_ = false;
    next_ = after(interval);
    const auto journals = target::Journals::of(directory_);
    for (const auto& entry : journals.list()) {
        // The script can put anything here, under any name.
        if (secrets.hide(entry.name) != entry.name) continue;
        if (read_journal(journals, entry.name, secrets, pieces) == Progress::done) continue;
        unread_ = true;
        next_ = {};
        return Progress::more;
    }
    return Progress::done;
}

JournalReader::Progress JournalReader::read_journal(const target::Journals& journals,
                                                    const std::string& name,
                                                    const RunSecrets& secrets,
                                                    int& pieces)
{
    const auto file = journals.open(name);
    const auto offset = context_.history.journal_offset(run_, name);
    if (!file || !offset) return Progress::done;
    for (auto at = *offset;;) {
        const auto bytes = os::read_at(file->get(), at, block);
        if (!bytes || bytes->empty()) return Progress::done;
        auto piece = model::read_journal(*bytes, at);
        if (piece.next == at) return Progress::done;
        secrets.hide(piece);
        store::JournalBatch batch{name, at, piece.next, std::move(piece.points), {}};
        for (auto& [key, value] : piece.params)
            batch.tags.emplace_back(std::string(model::parameter_prefix) + key, std::move(value));
        for (auto& tag : piece.tags)
            batch.tags.push_back(std::move(tag));
        if (!context_.history.record_metrics(run_, batch)) return Progress::done;
        if (piece.damaged > 0) {
            context_.tell(run_,
                          "notice",
                          fmt::format("metric journal '{}': {} damaged bytes were skipped",
                                      name,
                                      piece.damaged));
        }
        at = piece.next;
        if (--pieces <= 0) return Progress::more;
    }
}

}  // namespace ponk::engine

// SPDX-License-Identifier: Apache-2.0
#include "engine/tracked/journal_reader.hpp"

#include "base/text.hpp"
#include "engine/tracked/child_of.hpp"
#include "engine/tracked/tracked_records.hpp"
#include "executor/events/event_places.hpp"
#include "model/run_words.hpp"
#include "store/tracking/tracking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

namespace ponk::engine {

namespace {

using namespace std::chrono_literals;

constexpr auto interval = 100ms;
// Who asks mostly asks again.
constexpr auto interval_of_asking = 5ms;
// That wait; a script has no use for more at once.
constexpr std::size_t most_forwarded = 1000;
// Told at once: whoever watches the run has other things to do, too.
constexpr std::size_t portion_of_forwarded = 16;
constexpr auto patience = 60s;
// Holds the largest record whole, wherever it begins.
constexpr std::size_t block = 2 * model::journal_record_limit;
// Of one call: a piece costs a transaction, and the time for its bytes.
constexpr int budget_of_a_call = 512;
constexpr std::size_t bytes_per_unit = std::size_t{64} << 10;

// The system's error in the name "lost-28-…": of a file without bytes, whose length is how many
// values could not be written.
std::optional<int> lost_by(std::string_view name)
{
    constexpr std::string_view prefix = "lost-";
    constexpr std::int64_t largest_error = 4095;
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    const auto number = parse_integer(name.substr(0, name.find('-')));
    if (!number || *number < 0 || *number > largest_error) return std::nullopt;
    return static_cast<int>(*number);
}

}  // namespace

JournalReader::JournalReader(const Context& context, RunId run)
    : context_(context), run_(std::move(run)), directory_(context_.run_directory(run_))
{
}

void JournalReader::note_length(std::uint64_t length)
{
    grown_ = grown_ || length != length_;
    unread_ = unread_ || grown_;
    length_ = length;
}

bool JournalReader::is_due() const
{
    return (unread_ || !forwarded_.empty()) && Deadline::clock::now() >= next_;
}

void JournalReader::put_off()
{
    next_ = after(patience);
}

Deadline JournalReader::due() const
{
    return unread_ || !forwarded_.empty() ? next_ : after(std::chrono::hours(24));
}

void JournalReader::begin_again()
{
    found_ = executor::Journals::of(directory_).look();
    at_ = 0;
    problem_.reset();
    grown_ = false;
}

JournalReader::Progress JournalReader::read_some(const RunSecrets& secrets)
{
    if (left() == 0) begin_again();
    const auto journals = executor::Journals::of(directory_);
    for (int budget = budget_of_a_call; left() > 0; ++at_) {
        const auto& journal = found_.files[at_];
        if (lost_by(journal.name)) continue;
        // The script can put anything here, under any name.
        if (secrets.hide(journal.name) != journal.name) continue;
        if (budget > 0 && read_journal(journals, journal, secrets, budget) == Progress::done)
            continue;
        unread_ = true;
        next_ = {};
        return Progress::more;
    }
    unread_ = grown_;
    next_ = after(forwarded_.empty() ? interval : interval_of_asking);
    return Progress::done;
}

std::vector<Json> JournalReader::take_forwarded()
{
    if (left() > 0) return {};
    const auto end = forwarded_.begin() +
                     static_cast<std::ptrdiff_t>(std::min(forwarded_.size(), portion_of_forwarded));
    std::vector<Json> portion(forwarded_.begin(), end);
    forwarded_.erase(forwarded_.begin(), end);
    return portion;
}

void JournalReader::note_forwarded(const std::vector<Json>& records)
{
    KeyedSet<> withdrawn;
    for (const auto& record : records) {
        if (record["withdrawn"].is_string()) withdrawn.insert(record.text("withdrawn"));
    }
    const auto is_withdrawn = [&withdrawn](const Json& ask) {
        return withdrawn.contains(ask.text("ask"));
    };
    std::erase_if(forwarded_, is_withdrawn);
    for (const auto& record : records) {
        if (record["ask"].is_string() && forwarded_.size() < most_forwarded &&
            !is_withdrawn(record))
            forwarded_.push_back(record);
    }
}

JournalReader::Progress JournalReader::read_journal(const executor::Journals& journals,
                                                    const executor::Journals::File& journal,
                                                    const RunSecrets& secrets,
                                                    int& budget)
{
    auto known = places_.find(journal.name);
    if (known == places_.end()) {
        --budget;
        const auto offset = context_.history.journal_offset(run_, journal.name);
        if (!offset) return Progress::done;
        known = places_.emplace(journal.name, Place{.offset = *offset, .size = 0}).first;
    }
    auto& place = known->second;
    if (journal.size == place.size) return Progress::done;
    --budget;
    const auto file = journals.open(journal.name);
    if (!file) return Progress::done;
    for (;;) {
        const auto data = os::data_from(file->get(), place.offset, journal.size);
        const auto hole = data - std::min(data, place.offset);
        // A hole has no records.
        const auto left = hole > 0 ? 0 : journal.size - std::min(journal.size, place.offset);
        const auto bytes =
            os::read_at(file->get(), place.offset, std::min<std::uint64_t>(block, left));
        if (!bytes) return Progress::done;
        auto piece = model::read_journal(*bytes, place.offset);
        piece.next += hole;
        piece.damaged += hole;
        if (piece.next == place.offset) {
            place.size = journal.size;
            return Progress::done;
        }
        secrets.hide(piece);
        if (const auto stored = store(journal.name, place, std::move(piece)); !stored) {
            problem_ = stored.error();
            places_.erase(known);  // history knows better where it stands
            return Progress::done;
        }
        budget -= 1 + static_cast<int>(bytes->size() / bytes_per_unit);
        if (budget <= 0) return Progress::more;
    }
}

// As our own logging writes names and values; others may write into the journals, too.
void JournalReader::tidy(model::JournalPiece& piece)
{
    const auto tidy_name = [this](std::string& name) {
        const auto length = name.size();
        name = model::logged_name(std::move(name));
        cut_names_ = cut_names_ || name.size() < length;
    };
    const auto tidy_value = [this](std::string& value) {
        const auto length = value.size();
        value = first_characters(std::move(value), model::limits::logged_text);
        cut_values_ = cut_values_ || value.size() < length;
    };
    for (auto& point : piece.points) {
        tidy_name(point.key);
        if (point.text) tidy_value(*point.text);
    }
    for (auto* words : {&piece.params, &piece.tags}) {
        for (auto& [name, value] : *words) {
            tidy_name(name);
            tidy_value(value);
        }
    }
    for (auto& name : piece.untags)
        tidy_name(name);
}

Result<> JournalReader::store(const std::string& name, Place& place, model::JournalPiece piece)
{
    tidy(piece);
    store::JournalBatch batch{name, place.offset, piece.next, std::move(piece.points), {}};
    for (auto& [key, value] : piece.params)
        batch.tags.emplace_back(std::string(model::parameter_prefix) + key, std::move(value));
    store::Tracking tracking(context_.history);
    for (auto& [key, value] : piece.tags) {
        if (key == parent_tag) continue;  // what we say about others
        if (key == store::run_name_tag) {
            TRY(tracking.update_run(run_.text(), {.name = value}));
        } else {
            batch.tags.emplace_back(model::stored_tag(key), std::move(value));
        }
    }
    TRY(bring_tracked_records(context_, run_, piece.tracked));
    for (const auto& key : piece.untags) {
        // Before the offset: a daemon that is killed in between does it again.
        const auto gone = tracking.delete_tag(run_.text(), key);
        if (!gone && gone.error().kind() != ErrorKind::not_found) return gone;
    }
    if (TRY(context_.history.record_metrics(run_, batch)) > 0) too_many_tags_ = true;
    if (!piece.tags.empty() || !piece.untags.empty()) {
        context_.notifier.ring(run_, News::row);
    } else if (!batch.points.empty()) {
        context_.notifier.ring(run_, News::points);
    }
    place.offset = piece.next;
    // Behind the offset: a daemon that is killed now leaves a call without an answer, and never
    // carries one out twice.
    note_forwarded(piece.asks);
    if (piece.damaged > 0) note_damage(name, piece.damaged);
    return {};
}

void JournalReader::note_damage(const std::string& name, std::uint64_t bytes)
{
    damage_.bytes += bytes;
    if (damage_.first.empty()) damage_.first = name;
    if (damage_.last != name) ++damage_.journals;
    damage_.last = name;
}

executor::Notices JournalReader::lost_values() const
{
    std::map<int, std::uint64_t> counts;
    for (const auto& file : found_.files) {
        if (const auto error = lost_by(file.name)) counts[*error] += file.size;
    }
    executor::Notices out;
    for (const auto& [error, count] : counts) {
        if (count == 0) continue;
        out.push_back(fmt::format("{} value{} that the script logged could not be stored: {}",
                                  count,
                                  count == 1 ? "" : "s",
                                  std::generic_category().message(error)));
    }
    return out;
}

executor::Notices JournalReader::findings() const
{
    auto out = executor::event_file_notices(directory_);
    for (auto& notice : lost_values())
        out.push_back(std::move(notice));
    if (damage_.journals == 1) {
        out.push_back(fmt::format(
            "metric journal '{}': {} damaged bytes were skipped", damage_.first, damage_.bytes));
    } else if (damage_.journals > 1) {
        out.push_back(fmt::format("metric journals, '{}' and others: {} damaged bytes were skipped",
                                  damage_.first,
                                  damage_.bytes));
    }
    if (cut_names_) {
        out.push_back(
            fmt::format("names of metrics, parameters or tags were truncated to {} characters",
                        model::longest_logged_name));
    }
    if (cut_values_) {
        out.push_back(
            fmt::format("values of parameters or tags, or texts, were truncated to {} characters",
                        model::limits::logged_text));
    }
    if (too_many_tags_) {
        out.push_back(fmt::format("it logged more than {} parameters and tags, or more than {} of "
                                  "them: the rest is not stored",
                                  model::limits::tags,
                                  byte_size_text(model::limits::all_tags)));
    }
    if (!found_.cut.empty()) {
        out.push_back(fmt::format("metric journal '{}' has {} or more: the rest was not read",
                                  found_.cut,
                                  byte_size_text(executor::Journals::longest)));
    }
    if (found_.left_out > 0) {
        out.push_back(
            fmt::format("it has too many metric journals: ponk read only the first {} by name",
                        found_.files.size()));
    }
    return out;
}

}  // namespace ponk::engine

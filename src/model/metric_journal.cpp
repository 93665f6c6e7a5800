// SPDX-License-Identifier: Apache-2.0
#include "model/metric_journal.hpp"

#include "base/hash.hpp"
#include "base/keyed_hash.hpp"
#include "base/text.hpp"
#include "base/work_count.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ponk::model {

namespace {

constexpr char record_start = '\x1e';  // never inside a payload: JSON escapes it
constexpr char record_end = '\n';
constexpr std::size_t checksum_digits = 8;

// A tag that was set, or is gone.
struct TagChange {
    std::string key;
    std::optional<std::string> value;
};

// What is gathered until a piece ends.
struct Gathered {
    JournalPiece& piece;
    std::vector<TagChange> tags;

    // Every kind counts: a piece of nothing but tags ends, too.
    [[nodiscard]] std::size_t size() const
    {
        return piece.points.size() + piece.tracked.size() + piece.params.size() +
               piece.artifacts.size() + piece.asks.size() + tags.size();
    }
};

// Each tag as its last record leaves it.
void keep_last_words(std::vector<TagChange>& changes, JournalPiece& piece)
{
    struct Last {
        std::size_t change = 0;
        std::size_t gone = 0;  // behind the one that took it away last
    };
    KeyedMap<Last, std::string_view> last;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto& known = last[changes[i].key];
        known.change = i;
        if (!changes[i].value) known.gone = i + 1;
    }
    for (std::size_t i = 0; i < changes.size(); ++i) {
        auto& [key, value] = changes[i];
        const auto& known = last[key];
        if (value && i >= known.gone) {
            piece.tags.emplace_back(key, *value);
        } else if (!value && known.change == i) {
            piece.untags.push_back(key);
        }
    }
}

// Times before 1970 are those of no clock.
std::int64_t time_of(const Json& time)
{
    return time.is_integer() ? std::max<std::int64_t>(time.as_integer(), 0) : 0;
}

// Absent is 0.
bool has_whole_numbers(const Json& record)
{
    return (record["step"].is_null() || record["step"].is_integer()) &&
           (record["time"].is_null() || record["time"].is_integer());
}

// Many points of many names: all of them or none.
bool add_points(const JsonArray& points, JournalPiece& piece)
{
    const auto before = piece.points.size();
    for (const auto& item : points) {
        const bool fits = item.is_array() && item.as_array().size() == 4 &&
                          item.as_array()[0].is_string() && item.as_array()[2].is_integer() &&
                          item.as_array()[3].is_integer();
        const auto number = fits ? journal_number(item.as_array()[1]) : std::nullopt;
        if (!number) {
            piece.points.resize(before);
            return false;
        }
        const auto& parts = item.as_array();
        if (parts[0].as_string().empty()) continue;
        MetricPoint point{
            .key = parts[0].as_string(), .step = parts[2].as_integer(), .time = time_of(parts[3])};
        point.value = *number;
        piece.points.push_back(std::move(point));
    }
    return true;
}

bool add_metric(const Json& record, JournalPiece& piece)
{
    if (!has_whole_numbers(record)) return false;
    MetricPoint point{.key = record.text("metric"),
                      .step = record.integer("step"),
                      .time = time_of(record["time"])};
    if (point.key.empty()) return true;  // nobody could ask for it
    if (const auto& text = record["text"]; text.is_string()) {
        point.text = text.as_string();
        piece.points.push_back(std::move(point));
        return true;
    }
    if (const auto& values = record["values"]; values.is_array()) {
        const auto before = piece.points.size();
        point.form = MetricPoint::Form::list;
        for (const auto& value : values.as_array()) {
            const auto number = journal_number(value);
            if (!number || point.step == std::numeric_limits<std::int64_t>::max()) {
                piece.points.resize(before);  // all of a record or nothing
                return false;
            }
            point.value = *number;
            piece.points.push_back(point);
            ++point.step;
        }
        return true;
    }
    const auto number = journal_number(record["value"]);
    if (!number) return false;
    point.value = *number;
    piece.points.push_back(std::move(point));
    return true;
}

// About something else than the points, parameters and tags of the run itself.
bool is_tracked(const Json& record)
{
    return record["of"].is_string() || record["model"].is_string() || record["trace"].is_string() ||
           record["dataset"].is_object() || record["model_input"].is_string() ||
           record["model_output"].is_string();
}

bool add_record(std::string_view payload, Gathered& all)
{
    auto& piece = all.piece;
    const auto record = parse_json(payload);
    if (!record || !record->is_object()) return false;
    if (is_tracked(*record)) {
        piece.tracked.push_back(*record);
        return true;
    }
    if ((*record)["ask"].is_string() || (*record)["withdrawn"].is_string()) {
        piece.asks.push_back(*record);
        return true;
    }
    if ((*record)["metric"].is_string()) {
        // A model's, too.
        if ((*record)["model_id"].is_string()) piece.tracked.push_back(*record);
        return add_metric(*record, piece);
    }
    if ((*record)["param"].is_string()) {
        piece.params.emplace_back(record->text("param"), record->text("value"));
        return true;
    }
    if ((*record)["tag"].is_string()) {
        all.tags.push_back({record->text("tag"), record->text("value")});
        return true;
    }
    if ((*record)["untag"].is_string()) {
        all.tags.push_back({record->text("untag"), std::nullopt});
        return true;
    }
    if ((*record)["artifact"].is_string()) {
        piece.artifacts.push_back({record->text("artifact"),
                                   record->text("kind", "file"),
                                   record->integer("step"),
                                   record->integer("time")});
    }
    if ((*record)["points"].is_array()) return add_points((*record)["points"].as_array(), piece);
    return true;  // kinds that a later version writes are none of ours
}

// `frame` is what stands between start and end mark. nullopt: it is damaged.
std::optional<std::string_view> payload_of(std::string_view frame)
{
    if (frame.size() < checksum_digits + 1 || frame[checksum_digits] != ' ') return std::nullopt;
    std::uint32_t checksum = 0;
    const auto* digits_end = frame.data() + checksum_digits;
    const auto [end, problem] = std::from_chars(frame.data(), digits_end, checksum, 16);
    if (problem != std::errc() || end != digits_end) return std::nullopt;
    const auto payload = frame.substr(checksum_digits + 1);
    if (crc32(payload) != checksum) return std::nullopt;
    return payload;
}

}  // namespace

JournalScan scan_journal(std::string_view bytes,
                         std::uint64_t offset,
                         const std::function<bool(std::string_view payload)>& visit,
                         const std::function<bool()>& is_enough)
{
    JournalScan scan;
    std::size_t at = 0;
    const auto give_up = [&](std::size_t to) {
        scan.damaged += to - at;
        at = to;
    };
    while (at < bytes.size() && (!is_enough || !is_enough())) {
        count_work();
        if (bytes[at] != record_start) {
            give_up(std::min(bytes.find(record_start, at), bytes.size()));
            continue;
        }
        const auto stop = bytes.find_first_of("\x1e\n", at + 1);
        if (stop == std::string_view::npos) {
            if (bytes.size() - at > journal_record_limit) give_up(bytes.size());
            break;
        }
        if (bytes[stop] == record_start) {
            give_up(stop);  // torn, and the writer went on behind it
            continue;
        }
        const auto payload = payload_of(bytes.substr(at + 1, stop - at - 1));
        if (payload && visit(*payload)) {
            at = stop + 1;
        } else {
            give_up(stop + 1);
        }
    }
    scan.next = offset + at;
    return scan;
}

JournalPiece read_journal(std::string_view bytes, std::uint64_t offset, std::size_t most_points)
{
    JournalPiece piece;
    Gathered all{piece, {}};
    const auto scan = scan_journal(
        bytes,
        offset,
        [&all](std::string_view payload) { return add_record(payload, all); },
        [&all, most_points] { return all.size() >= most_points; });
    keep_last_words(all.tags, piece);
    piece.next = scan.next;
    piece.damaged = scan.damaged;
    return piece;
}

std::string logged_name(std::string text)
{
    for (auto& c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    }
    return first_characters(std::move(text), longest_logged_name);
}

std::optional<double> journal_number(const Json& value)
{
    if (value.is_number()) return value.as_double();
    if (!value.is_string()) return std::nullopt;
    if (value.as_string() == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (value.as_string() == "Infinity") return std::numeric_limits<double>::infinity();
    if (value.as_string() == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

std::string journal_record(const Json& payload)
{
    const auto text = to_json(payload);
    return fmt::format("{}{:08x} {}{}", record_start, crc32(text), text, record_end);
}

}  // namespace ponk::model

// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/traces.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "store/history/history_access.hpp"
#include "store/rows/artifact_location.hpp"
#include "store/tracking/trace_row.hpp"

#include <limits>

namespace ponk::store {

namespace {

constexpr std::size_t most_text = std::size_t{64} << 20;  // of one answer

Result<> check_duration(std::int64_t ms)
{
    if (-longest_trace <= ms && ms <= longest_trace) return {};
    return fail(ErrorKind::invalid_argument,
                "A trace cannot last {} ms: give its duration in milliseconds",
                ms);
}

Result<std::int64_t> upsert(db::Connection& writer, const TraceInfo& trace)
{
    auto statement = TRY(writer.prepare(
        "INSERT INTO trace(id, project, time, duration, state, client_id, request, response)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET project = excluded.project,"
        " time = excluded.time, duration = excluded.duration, state = excluded.state,"
        " client_id = coalesce(excluded.client_id, client_id),"
        " request = coalesce(excluded.request, request),"
        " response = coalesce(excluded.response, response) RETURNING row"));
    statement.bind(trace.id,
                   trace.experiment,
                   trace.time,
                   trace.duration,
                   trace.state,
                   trace.client_id,
                   trace.request,
                   trace.response);
    TRY(statement.step());
    return statement.integer(0);
}

Result<std::int64_t>
remove_ids(db::Connection& writer, std::int64_t experiment, const std::vector<std::string>& ids)
{
    std::int64_t removed = 0;
    for (const auto& id : ids) {
        auto statement = TRY(writer.prepare("DELETE FROM trace WHERE project = ? AND id = ?"));
        TRY(statement.bind(experiment, id).run());
        removed += writer.changes();
    }
    return removed;
}

Result<std::int64_t>
remove_until(db::Connection& writer, std::int64_t experiment, const TraceSelection& selection)
{
    auto statement =
        TRY(writer.prepare("DELETE FROM trace WHERE row IN (SELECT row FROM trace WHERE project = ?"
                           " AND time <= ? ORDER BY time LIMIT ?)"));
    statement.bind(experiment,
                   *selection.until,
                   selection.most.value_or(std::numeric_limits<std::int64_t>::max()));
    TRY(statement.run());
    return writer.changes();
}

}  // namespace

Result<> check_trace_time(std::int64_t ms)
{
    if (earliest_trace_time <= ms && ms <= latest_trace_time) return {};
    return fail(ErrorKind::invalid_argument,
                "The time {} is after the year 9999 or before the year 0: give it in milliseconds"
                " since 1970",
                ms);
}

Result<std::optional<std::int64_t>> find_trace_row(db::Connection& connection,
                                                   const std::string& id)
{
    auto statement = TRY(connection.prepare("SELECT row FROM trace WHERE id = ?"));
    statement.bind(id);
    if (!TRY(statement.step())) return std::optional<std::int64_t>();
    return std::optional(statement.integer(0));
}

Result<std::int64_t> get_trace_row(db::Connection& connection, const std::string& id)
{
    if (const auto row = TRY(find_trace_row(connection, id))) return *row;
    return fail(ErrorKind::not_found, "Trace with ID '{}' not found.", printable(id));
}

Result<> check_tag_room(db::Connection& connection, std::int64_t row, const std::string& id)
{
    auto sum = TRY(connection.prepare("SELECT count(*), sum(length(CAST(key AS BLOB)) +"
                                      " length(CAST(value AS BLOB))) FROM trace_tag"
                                      " WHERE trace = ?"));
    sum.bind(row);
    TRY(sum.step());
    if (sum.integer(0) <= most_trace_tags && sum.integer(1) <= most_trace_tag_bytes) return {};
    return fail(ErrorKind::invalid_argument,
                "The trace '{}' can have at most {} tags, of {} together: give it fewer, or"
                " shorter ones",
                printable(id),
                most_trace_tags,
                byte_size_text(static_cast<std::uint64_t>(most_trace_tag_bytes)));
}

Result<>
link_traces(db::Connection& writer, const std::vector<std::string>& ids, const std::string& run)
{
    TRY(get_writable_run(writer, run, Into::any));
    auto link = TRY(writer.prepare("INSERT OR IGNORE INTO trace_link(trace, run)"
                                   " SELECT row, ? FROM trace WHERE id = ?"));
    for (const auto& id : ids)
        TRY(link.bind(run, id).run());
    return {};
}

std::size_t text_size(const TraceInfo& trace)
{
    std::size_t bytes = trace.request.value_or("").size() + trace.response.value_or("").size();
    for (const auto* pairs : {&trace.metadata, &trace.tags}) {
        for (const auto& [key, value] : *pairs)
            bytes += key.size() + value.size();
    }
    for (const auto& assessment : trace.assessments)
        bytes += assessment.size();
    return bytes;
}

Result<TraceInfo> read_trace(db::Connection& connection, std::int64_t row)
{
    auto statement = TRY(
        connection.prepare("SELECT id, project, time, duration, state, client_id, request, response"
                           " FROM trace WHERE row = ?"));
    statement.bind(row);
    if (!TRY(statement.step())) return fail(ErrorKind::internal, "row {} of a trace is gone", row);
    TraceInfo trace{.id = statement.text(0),
                    .experiment = statement.integer(1),
                    .time = statement.integer(2),
                    .duration = statement.integer_if_any(3),
                    .state = statement.text(4),
                    .client_id = statement.text_if_any(5),
                    .request = statement.text_if_any(6),
                    .response = statement.text_if_any(7)};
    trace.metadata = TRY(read_pairs(connection, trace_metadata, row));
    trace.tags = TRY(read_pairs(connection, trace_tags, row));
    trace.assessments = TRY(read_assessments(connection, row, trace.id));
    return trace;
}

Result<TraceInfo> Traces::put(const TraceInfo& trace)
{
    TRY(check_trace_time(trace.time));
    if (trace.duration) TRY(check_duration(*trace.duration));
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<TraceInfo> {
            const auto experiment = TRY(get_writable_experiment(writer, trace.experiment));
            const auto row = TRY(upsert(writer, trace));
            TRY(put_pairs(writer, trace_metadata, row, trace.metadata));
            TRY(put_pairs(writer, trace_tags, row, trace.tags));
            TRY(put_pairs(writer,
                          trace_tags,
                          row,
                          {{std::string(artifact_location_tag),
                            below_location(experiment.location,
                                           fmt::format("traces/{}/artifacts", trace.id))}}));
            TRY(check_tag_room(writer, row, trace.id));
            for (const auto& assessment : trace.assessments)
                TRY(put_assessment(writer, row, assessment));
            return read_trace(writer, row);
        });
}

Result<TraceInfo> Traces::get(const std::string& id) const
{
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<TraceInfo> {
        return read_trace(reader, TRY(get_trace_row(reader, id)));
    });
}

Result<std::vector<TraceInfo>> Traces::find(const std::vector<std::string>& ids) const
{
    using Found = std::vector<TraceInfo>;
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<Found> {
        Found found;
        std::size_t bytes = 0;
        for (const auto& id : ids) {
            const auto row = TRY(find_trace_row(reader, id));
            if (!row) continue;
            found.push_back(TRY(read_trace(reader, *row)));
            bytes += text_size(found.back());
            if (bytes > most_text)
                return fail(ErrorKind::invalid_argument,
                            "What is known of these traces is more than {}: ask for fewer at once",
                            byte_size_text(most_text));
        }
        return found;
    });
}

Result<> Traces::set_tag(const std::string& id, const std::string& key, const std::string& value)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_trace_row(writer, id));
            TRY(put_pairs(writer, trace_tags, row, {{key, value}}));
            return check_tag_room(writer, row, id);
        });
}

Result<> Traces::remove_tag(const std::string& id, const std::string& key)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            if (TRY(remove_pair(writer, trace_tags, TRY(get_trace_row(writer, id)), key)))
                return {};
            return fail(ErrorKind::not_found,
                        "No trace tag with key '{}' for trace with ID '{}'",
                        printable(key),
                        printable(id));
        });
}

Result<> Traces::link_to_run(const std::vector<std::string>& ids, const std::string& run)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk,
        [&](db::Connection& writer) -> Result<> { return link_traces(writer, ids, run); });
}

Result<> Traces::link_prompts(const std::string& id, const std::vector<std::string>& prompts)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_trace_row(writer, id));
            auto link = TRY(
                writer.prepare("INSERT OR IGNORE INTO trace_prompt(trace, prompt) VALUES(?, ?)"));
            for (const auto& prompt : prompts)
                TRY(link.bind(row, prompt).run());
            auto count = TRY(writer.prepare("SELECT count(*) FROM trace_prompt WHERE trace = ?"));
            count.bind(row);
            TRY(count.step());
            if (count.integer(0) <= most_trace_prompts) return {};
            return fail(ErrorKind::invalid_argument,
                        "The trace '{}' can have at most {} versions of prompts",
                        printable(id),
                        most_trace_prompts);
        });
}

Result<std::int64_t> Traces::remove(std::int64_t experiment, const TraceSelection& selection)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<std::int64_t> {
            return selection.until ? remove_until(writer, experiment, selection)
                                   : remove_ids(writer, experiment, selection.ids);
        });
}

}  // namespace ponk::store

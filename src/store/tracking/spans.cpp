// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/spans.hpp"

#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "store/history/history_access.hpp"
#include "store/rows/artifact_location.hpp"
#include "store/tracking/trace_row.hpp"

#include <algorithm>
#include <limits>

namespace ponk::store {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000;  // of a millisecond

// What spans say of their trace, in milliseconds.
struct Extent {
    std::int64_t began = std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> ended = std::nullopt;
    std::optional<std::string> state = std::nullopt;  // once its root is there
};

Extent extent_of(const std::vector<Span>& spans)
{
    Extent extent;
    for (const auto& span : spans) {
        extent.began = std::min(extent.began, span.began / nanoseconds);
        if (span.ended)
            extent.ended = std::max(extent.ended.value_or(0), *span.ended / nanoseconds);
        if (!span.parent) extent.state = span.status == "ERROR" ? "ERROR" : "OK";
    }
    return extent;
}

Result<std::int64_t>
make_trace(db::Connection& writer, const ExperimentRow& experiment, const LoggedSpans& logged)
{
    const auto extent = extent_of(logged.spans);
    auto insert = TRY(writer.prepare("INSERT INTO trace(id, project, time, duration, state)"
                                     " VALUES(?, ?, ?, NULL, ?) RETURNING row"));
    insert.bind(logged.trace, experiment.row, extent.began, extent.state.value_or("IN_PROGRESS"));
    TRY(insert.step());
    const auto row = insert.integer(0);
    TRY(put_pairs(
        writer,
        trace_tags,
        row,
        {{std::string(artifact_location_tag),
          below_location(experiment.location, fmt::format("traces/{}/artifacts", logged.trace))}}));
    return row;
}

// What the client says of the trace itself comes later, and replaces this.
Result<> extend_trace(db::Connection& writer, std::int64_t row, const LoggedSpans& logged)
{
    const auto extent = extent_of(logged.spans);
    auto update = TRY(writer.prepare(
        "UPDATE trace SET time = min(time, ?1),"
        " duration = CASE WHEN ?2 IS NULL THEN duration"
        " ELSE max(?2, time + coalesce(duration, 0)) - min(time, ?1) END,"
        " state = CASE WHEN state IN ('IN_PROGRESS', 'STATE_UNSPECIFIED') THEN coalesce(?3, state)"
        " ELSE state END, request = coalesce(request, ?4), response = coalesce(response, ?5)"
        " WHERE row = ?6"));
    update.bind(extent.began, extent.ended, extent.state, logged.request, logged.response, row);
    return update.run();
}

Result<> put_model(db::Connection& writer, std::int64_t row, const Span& span)
{
    auto remove = TRY(writer.prepare("DELETE FROM span_model WHERE span = ?"));
    TRY(remove.bind(row).run());
    if (!span.model && !span.provider && !span.input_cost && !span.output_cost && !span.total_cost)
        return {};
    auto put = TRY(writer.prepare(
        "INSERT INTO span_model(span, model, provider, input_cost, output_cost, total_cost)"
        " VALUES(?, ?, ?, ?, ?, ?)"));
    put.bind(row, span.model, span.provider, span.input_cost, span.output_cost, span.total_cost);
    return put.run();
}

Result<> put_spans(db::Connection& writer, std::int64_t trace, const std::vector<Span>& spans)
{
    auto put = TRY(writer.prepare(
        "INSERT INTO span(trace, id, parent, name, type, status, began, ended, size, content)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(trace, id) DO UPDATE SET"
        " parent = excluded.parent, name = excluded.name, type = excluded.type,"
        " status = excluded.status, began = excluded.began, ended = excluded.ended,"
        " size = excluded.size, content = excluded.content RETURNING row"));
    for (const auto& span : spans) {
        put.bind(trace,
                 span.id,
                 span.parent,
                 span.name,
                 span.type,
                 span.status,
                 span.began,
                 span.ended,
                 static_cast<std::int64_t>(span.content.size()),
                 span.content);
        TRY(put.step());
        const auto row = put.integer(0);
        put.reset();
        TRY(put_model(writer, row, span));
    }
    return {};
}

Result<> check_span_room(db::Connection& writer, std::int64_t row, const std::string& trace)
{
    auto sum = TRY(writer.prepare("SELECT count(*), sum(size) FROM span WHERE trace = ?"));
    sum.bind(row);
    TRY(sum.step());
    if (sum.integer(0) <= most_stored_spans && sum.integer(1) <= most_span_bytes) return {};
    return fail(ErrorKind::invalid_argument,
                "The trace '{}' can have at most {} spans, of {} together: trace less in one go",
                printable(trace),
                most_stored_spans,
                byte_size_text(static_cast<std::uint64_t>(most_span_bytes)));
}

}  // namespace

Result<> Spans::add(std::int64_t experiment,
                    const std::vector<LoggedSpans>& logged,
                    const std::optional<std::string>& run)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto place = TRY(get_writable_experiment(writer, experiment));
            std::vector<std::string> traces;
            for (const auto& one : logged) {
                const auto known = TRY(find_trace_row(writer, one.trace));
                const auto row = known ? *known : TRY(make_trace(writer, place, one));
                TRY(put_spans(writer, row, one.spans));
                TRY(extend_trace(writer, row, one));
                TRY(put_pairs(writer, trace_tags, row, one.tags));
                TRY(put_pairs(writer,
                              trace_tags,
                              row,
                              {{std::string(spans_location_tag), std::string(spans_are_here)}}));
                TRY(check_span_room(writer, row, one.trace));
                TRY(check_tag_room(writer, row, one.trace));
                traces.push_back(one.trace);
            }
            return run ? link_traces(writer, traces, *run) : Result<>();
        });
}

Result<std::vector<std::string>> Spans::contents(const std::string& trace) const
{
    using Found = std::vector<std::string>;
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<Found> {
        auto statement =
            TRY(reader.prepare("SELECT content FROM span WHERE trace = (SELECT row FROM trace WHERE"
                               " id = ?) ORDER BY parent IS NOT NULL, began, id"));
        statement.bind(trace);
        Found found;
        while (TRY(statement.step())) {
            found.push_back(statement.text(0));
            TRY(charge_answer(found.back().size()));
        }
        return found;
    });
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/assessments.hpp"

#include "base/id.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "store/history/history_access.hpp"
#include "store/tracking/trace_row.hpp"

namespace ponk::store {

namespace {

constexpr std::string_view run_key = "mlflow.assessment.sourceRunId";
constexpr const char* columns = "SELECT id, name, kind, value, error, source_type, source, span,"
                                " rationale, metadata, overrides, valid, created, updated"
                                " FROM assessment";

Result<Json> json_of(const std::string& text)
{
    return parse_json(text).map_error(
        [](const Error& error) { return Error(ErrorKind::damaged, error.message()); });
}

std::string metadata_text(const Pairs& metadata)
{
    JsonObject object;
    for (const auto& [key, value] : metadata)
        object.set(key, value);
    return to_json(object);
}

Result<Assessment> assessment_at(const db::Statement& row, const std::string& trace)
{
    Assessment found{.id = row.text(0),
                     .trace = trace,
                     .name = row.text(1),
                     .kind = row.text(2),
                     .source_type = row.text(5),
                     .source = row.text(6),
                     .span = row.text_if_any(7),
                     .rationale = row.text_if_any(8),
                     .overrides = row.text_if_any(10),
                     .valid = row.integer(11) != 0,
                     .created = row.integer(12),
                     .updated = row.integer(13)};
    found.value = TRY(json_of(row.text(3)));
    if (const auto error = row.text_if_any(4)) found.error = TRY(json_of(*error));
    const auto metadata = TRY(json_of(row.text(9)));
    if (metadata.is_object()) {
        for (const auto& [key, value] : metadata.as_object())
            found.metadata.emplace_back(key, value.is_string() ? value.as_string() : "");
    }
    return found;
}

std::optional<std::string> run_of(const Pairs& metadata)
{
    for (const auto& [key, value] : metadata) {
        if (key == run_key) return value;
    }
    return std::nullopt;
}

Result<> check_room(db::Connection& writer, std::int64_t trace)
{
    auto sum = TRY(writer.prepare("SELECT count(*), sum(size) FROM assessment WHERE trace = ?"));
    sum.bind(trace);
    TRY(sum.step());
    if (sum.integer(0) <= most_assessments && sum.integer(1) <= most_assessment_bytes) return {};
    return fail(ErrorKind::invalid_argument,
                "A trace can have at most {} assessments, of {} together. Delete some of this"
                " trace, or say less in each.",
                most_assessments,
                byte_size_text(static_cast<std::uint64_t>(most_assessment_bytes)));
}

Result<> set_valid(db::Connection& writer, std::int64_t trace, const std::string& id, int valid)
{
    auto statement =
        TRY(writer.prepare("UPDATE assessment SET valid = ? WHERE trace = ? AND id = ?"));
    return statement.bind(valid, trace, id).run();
}

Result<std::int64_t> row_of(db::Connection& connection, const std::string& trace)
{
    if (const auto row = TRY(find_trace_row(connection, trace))) return *row;
    return fail(ErrorKind::not_found, "Trace with request_id '{}' not found", printable(trace));
}

Result<std::optional<Assessment>>
find(db::Connection& connection, std::int64_t row, const std::string& trace, const std::string& id)
{
    auto statement =
        TRY(connection.prepare(std::string(columns) + " WHERE trace = ? AND id = ? AND " +
                               std::string(assessment_is_shown)));
    statement.bind(row, id);
    if (!TRY(statement.step())) return std::optional<Assessment>();
    return std::optional(TRY(assessment_at(statement, trace)));
}

// Also one that is not shown: it comes back with its run.
Result<bool> has_id(db::Connection& connection, std::int64_t row, const std::string& id)
{
    auto statement = TRY(connection.prepare("SELECT 1 FROM assessment WHERE trace = ? AND id = ?"));
    statement.bind(row, id);
    return statement.step();
}

tl::unexpected<Error> no_assessment(const std::string& trace, const std::string& id)
{
    return fail(ErrorKind::not_found,
                "Assessment with ID '{}' not found for trace '{}'",
                printable(id),
                printable(trace));
}

Result<Assessment> get_stored(db::Connection& connection,
                              std::int64_t row,
                              const std::string& trace,
                              const std::string& id)
{
    auto found = TRY(find(connection, row, trace, id));
    if (!found) return no_assessment(trace, id);
    return std::move(*found);
}

Result<> apply(const AssessmentChange& change, Assessment& stored)
{
    if (change.kind && *change.kind != stored.kind)
        return fail(ErrorKind::invalid_argument,
                    "Cannot update {} value on {} assessment.",
                    *change.kind,
                    stored.kind == "feedback" ? "a Feedback"
                    : stored.kind == "issue"  ? "an Issue"
                                              : "an Expectation");
    if (change.kind) {
        stored.value = change.value;
        stored.error = change.error;
    }
    if (change.name) stored.name = *change.name;
    if (change.rationale) stored.rationale = change.rationale;
    for (const auto& [key, value] : change.metadata) {
        std::erase_if(stored.metadata,
                      [&name = key](const auto& pair) { return pair.first == name; });
        stored.metadata.emplace_back(key, value);
    }
    stored.updated = wall_milliseconds();
    return {};
}

}  // namespace

std::size_t Assessment::size() const
{
    std::size_t bytes = name.size() + to_json(value).size() + rationale.value_or("").size();
    if (!error.is_null()) bytes += to_json(error).size();
    for (const auto& [key, text] : metadata)
        bytes += key.size() + text.size();
    return bytes;
}

Result<std::vector<Assessment>>
read_assessments(db::Connection& connection, std::int64_t trace, const std::string& trace_id)
{
    auto statement = TRY(connection.prepare(std::string(columns) + " WHERE trace = ? AND " +
                                            std::string(assessment_is_shown) + " ORDER BY row"));
    statement.bind(trace);
    std::vector<Assessment> all;
    while (TRY(statement.step()))
        all.push_back(TRY(assessment_at(statement, trace_id)));
    return all;
}

Result<> put_assessment(db::Connection& writer, std::int64_t trace, const Assessment& assessment)
{
    const auto value = to_json(assessment.value);
    const auto metadata = metadata_text(assessment.metadata);
    std::optional<std::string> error;
    if (!assessment.error.is_null()) error = to_json(assessment.error);
    auto statement = TRY(writer.prepare(
        "INSERT INTO assessment(trace, id, name, kind, value, error, source_type, source, span,"
        " run, rationale, metadata, overrides, valid, created, updated, size)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(trace, id) DO UPDATE SET name = excluded.name, kind = excluded.kind,"
        " value = excluded.value, error = excluded.error, source_type = excluded.source_type,"
        " source = excluded.source, span = excluded.span, run = excluded.run,"
        " rationale = excluded.rationale, metadata = excluded.metadata,"
        " overrides = excluded.overrides, valid = excluded.valid, created = excluded.created,"
        " updated = excluded.updated, size = excluded.size"));
    statement.bind(trace,
                   assessment.id.empty() ? "a-" + RunId::make().text() : assessment.id,
                   assessment.name,
                   assessment.kind,
                   value,
                   error,
                   assessment.source_type,
                   assessment.source,
                   assessment.span,
                   run_of(assessment.metadata),
                   assessment.rationale,
                   metadata,
                   assessment.overrides,
                   assessment.valid ? 1 : 0,
                   assessment.created,
                   assessment.updated,
                   static_cast<std::int64_t>(assessment.size()));
    TRY(statement.run());
    return check_room(writer, trace);
}

Result<Assessment> Assessments::add(const Assessment& assessment)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<Assessment> {
            const auto row = TRY(get_trace_row(writer, assessment.trace));
            auto stored = assessment;
            if (stored.id.empty()) stored.id = "a-" + RunId::make().text();
            if (TRY(has_id(writer, row, stored.id)))
                return fail(ErrorKind::conflict,
                            "Assessment with ID '{}' already exists for trace '{}'",
                            printable(stored.id),
                            printable(stored.trace));
            if (stored.overrides) {
                TRY(set_valid(writer, row, *stored.overrides, 0));
                if (writer.changes() == 0) return no_assessment(stored.trace, *stored.overrides);
            }
            TRY(put_assessment(writer, row, stored));
            return stored;
        });
}

Result<Assessment> Assessments::get(const std::string& trace, const std::string& id) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<Assessment> {
            return get_stored(reader, TRY(row_of(reader, trace)), trace, id);
        });
}

Result<Assessment>
Assessments::update(const std::string& trace, const std::string& id, const AssessmentChange& change)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<Assessment> {
            const auto row = TRY(row_of(writer, trace));
            auto stored = TRY(get_stored(writer, row, trace, id));
            TRY(apply(change, stored));
            TRY(put_assessment(writer, row, stored));
            return stored;
        });
}

Result<> Assessments::remove(const std::string& trace, const std::string& id)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(find_trace_row(writer, trace));
            if (!row) return {};
            const auto stored = TRY(find(writer, *row, trace, id));
            if (!stored) return {};
            if (stored->overrides) TRY(set_valid(writer, *row, *stored->overrides, 1));
            auto statement =
                TRY(writer.prepare("DELETE FROM assessment WHERE trace = ? AND id = ?"));
            return statement.bind(*row, id).run();
        });
}

}  // namespace ponk::store

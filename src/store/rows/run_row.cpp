// SPDX-License-Identifier: Apache-2.0
#include "store/rows/run_row.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/work_budget.hpp"
#include "model/run_fields.hpp"
#include "model/run_words.hpp"

#include <algorithm>

namespace ponk::store {

using model::Run;
using model::RunForm;

// CROSS JOIN: the runs are walked in their order and each looks up its project, never the reverse.
const std::string_view select_runs =
    "SELECT run.row, run.id, project.id, number, run.name, state, exit_code, script_name, target,"
    " run.created, started, ended, snapshot, outputs, job, hidden, cancel_requested, details,"
    " run.deleted, run.parent"
    " FROM run CROSS JOIN project ON project.row = run.project ";

namespace {

// parse_json reads up to 64 MiB; what could not be read back is never written.
constexpr std::size_t details_limit = std::size_t{8} << 20;

Result<> read_tags(db::Connection& connection, StoredRun& stored)
{
    auto& run = stored.run;
    auto tags = TRY(connection.prepare("SELECT key, value FROM tag WHERE run = ? ORDER BY key"));
    tags.bind(stored.row);
    while (TRY(tags.step())) {
        const auto& tag = run.tags.emplace_back(tags.text(0), tags.text(1));
        const auto size = tag.first.size() + tag.second.size();
        stored.bytes += size;
        TRY(charge_answer(size));
    }
    return {};
}

Result<std::string> details_text(const Run& run)
{
    auto text = to_json(Json(model::write_run(run, RunForm::details)));
    if (text.size() > details_limit) {
        return fail(ErrorKind::invalid_argument,
                    "run '{}' has {} of arguments and configuration, at most {} can be stored",
                    run.id.text(),
                    byte_size_text(text.size()),
                    byte_size_text(details_limit));
    }
    return text;
}

Result<> write_tags(db::Connection& connection, std::int64_t row, const Run& run)
{
    auto clear = TRY(connection.prepare("DELETE FROM tag WHERE run = ?"));
    TRY(clear.bind(row).run());
    auto insert =
        TRY(connection.prepare("INSERT OR REPLACE INTO tag(run, key, value) VALUES(?, ?, ?)"));
    for (const auto& [key, value] : run.tags)
        TRY(insert.bind(row, key, value).run());
    return {};
}

}  // namespace

std::string reversed(std::string_view text)
{
    return {text.rbegin(), text.rend()};
}

Result<StoredRun> read_run(db::Connection& connection, const db::Statement& statement)
{
    StoredRun stored;
    auto& run = stored.run;
    stored.row = statement.integer(0);
    run.id = TRY(RunId::parse(statement.text(1)));
    run.project = statement.text(2);
    run.number = statement.integer(3);
    run.name = statement.text(4);
    const auto word = statement.text(5);
    const auto state = model::parse_run_state(word);
    if (!state) {
        return fail(ErrorKind::damaged, "run '{}' has the unknown state '{}'", run.id.text(), word);
    }
    run.state = *state;
    if (const auto code = statement.integer_if_any(6)) run.exit_code = static_cast<int>(*code);
    run.script_name = statement.text(7);
    run.target = statement.text(8);
    run.created = statement.integer(9);
    run.started = statement.integer(10);
    run.ended = statement.integer(11);
    run.snapshot = statement.text(12);
    run.outputs = statement.text(13);
    run.job = statement.text(14);
    run.hidden = statement.integer(15) != 0;
    run.cancel_requested = statement.integer(16) != 0;
    run.deleted = statement.integer(18);
    run.parent = statement.text(19);
    const auto text = statement.text(17);
    stored.bytes = text.size();
    TRY(charge_answer(text.size()));
    const auto details = parse_json(text);
    if (!details) {
        return fail(ErrorKind::damaged,
                    "details of run '{}' cannot be read: {}",
                    run.id.text(),
                    details.error().message());
    }
    // A field that cannot be read keeps its default: the rest of the run is worth having.
    static_cast<void>(model::read_run(*details, RunForm::details, run));
    TRY(read_tags(connection, stored));
    return stored;
}

Result<std::optional<StoredRun>> find_stored_run(db::Connection& connection, const RunId& id)
{
    auto statement = TRY(connection.prepare(std::string(select_runs) + "WHERE run.id = ?"));
    statement.bind(id.text());
    if (!TRY(statement.step())) return std::optional<StoredRun>();
    return std::optional(TRY(read_run(connection, statement)));
}

Result<StoredRun> get_stored_run(db::Connection& connection, const RunId& id)
{
    auto found = TRY(find_stored_run(connection, id));
    if (!found) return fail(ErrorKind::not_found, "there is no run '{}'", id.text());
    return std::move(*found);
}

Result<std::int64_t> get_run_row(db::Connection& connection, const RunId& id)
{
    auto statement = TRY(connection.prepare("SELECT row FROM run WHERE id = ?"));
    statement.bind(id.text());
    if (!TRY(statement.step()))
        return fail(ErrorKind::not_found, "there is no run '{}'", id.text());
    return statement.integer(0);
}

const char* to_string(Origin origin)
{
    return origin == Origin::engine ? "engine" : "client";
}

Result<bool> is_client_run(db::Connection& connection, std::int64_t row)
{
    auto statement =
        TRY(connection.prepare("SELECT 1 FROM run WHERE row = ? AND origin = 'client'"));
    statement.bind(row);
    return statement.step();
}

Result<std::int64_t> next_run_number(db::Connection& writer, std::int64_t project_row)
{
    auto statement = TRY(writer.prepare(
        "UPDATE project SET last_number = last_number + 1 WHERE row = ? RETURNING last_number"));
    statement.bind(project_row);
    if (!TRY(statement.step()))
        return fail(ErrorKind::internal, "project row {} is gone", project_row);
    const auto number = statement.integer(0);
    TRY(statement.run());
    return number;
}

Result<std::int64_t>
insert_run(db::Connection& connection, std::int64_t project_row, const Run& run, Origin origin)
{
    const auto details = TRY(details_text(run));
    auto statement = TRY(connection.prepare(
        "INSERT INTO run(id, reversed_id, project, number, name, state, exit_code, script_name,"
        " target, created, started, ended, snapshot, outputs, job, hidden, cancel_requested, "
        "details, gpu_verdict, user, origin, parent)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    statement.bind(run.id.text(),
                   reversed(run.id.text()),
                   project_row,
                   run.number,
                   run.name,
                   model::to_string(run.state),
                   run.exit_code,
                   run.script_name,
                   run.target,
                   run.created,
                   run.started,
                   run.ended,
                   run.snapshot,
                   run.outputs,
                   run.job,
                   int{run.hidden},
                   int{run.cancel_requested},
                   details,
                   model::gpu_verdict(run),
                   run.user,
                   to_string(origin),
                   run.parent);
    TRY(statement.run());
    const auto row = connection.last_row();
    TRY(write_tags(connection, row, run));
    return row;
}

Result<> overwrite_run(db::Connection& connection, const StoredRun& stored)
{
    const auto& run = stored.run;
    const auto details = TRY(details_text(run));
    auto statement = TRY(connection.prepare(
        // Only what may change: each column named here costs its indexes a write.
        "UPDATE run SET name = ?, state = ?, exit_code = ?, started = ?, ended = ?, snapshot = ?,"
        " outputs = ?, job = ?, hidden = ?, cancel_requested = ?, details = ?,"
        " gpu_verdict = ? WHERE row = ?"));
    statement.bind(run.name,
                   model::to_string(run.state),
                   run.exit_code,
                   run.started,
                   run.ended,
                   run.snapshot,
                   run.outputs,
                   run.job,
                   int{run.hidden},
                   int{run.cancel_requested},
                   details,
                   model::gpu_verdict(run),
                   stored.row);
    return statement.run();
}

}  // namespace ponk::store

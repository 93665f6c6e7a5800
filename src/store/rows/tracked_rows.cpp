// SPDX-License-Identifier: Apache-2.0
#include "store/rows/tracked_rows.hpp"

#include "base/text.hpp"
#include "store/rows/artifact_location.hpp"

#include <fmt/format.h>

namespace ponk::store {

namespace {

tl::unexpected<Error> not_active(std::string_view thing, std::string_view id)
{
    return fail(ErrorKind::invalid_argument,
                "The {} {} must be in the 'active' state. Current state is deleted.",
                thing,
                id);
}

}  // namespace

Result<ExperimentRow> get_writable_experiment(db::Connection& connection, std::int64_t id)
{
    auto statement = TRY(connection.prepare("SELECT location, deleted FROM project WHERE row = ?"));
    statement.bind(id);
    if (!TRY(statement.step()))
        return fail(ErrorKind::not_found, "No Experiment with id={} exists", id);
    if (statement.integer(1) != 0) return not_active("experiment", std::to_string(id));
    return ExperimentRow{id, artifact_location(id, statement.text(0))};
}

Result<RunRow> get_writable_run(db::Connection& connection, const std::string& id, Into into)
{
    auto statement = TRY(
        connection.prepare("SELECT run.row, run.project, project.location, run.deleted FROM run"
                           " CROSS JOIN project ON project.row = run.project WHERE run.id = ?"));
    statement.bind(id);
    if (!TRY(statement.step()))
        return fail(ErrorKind::not_found, "Run with id={} not found", printable(id));
    if (into == Into::active && statement.integer(3) != 0) return not_active("run", id);
    const auto project = statement.integer(1);
    return RunRow{statement.integer(0),
                  project,
                  below_location(artifact_location(project, statement.text(2)), id + "/artifacts")};
}

Result<Pairs> read_pairs(db::Connection& connection, const PairTable& table, std::int64_t owner)
{
    auto statement = TRY(connection.prepare(fmt::format(
        "SELECT key, value FROM {} WHERE {} = ? ORDER BY key", table.name, table.owner)));
    statement.bind(owner);
    Pairs pairs;
    while (TRY(statement.step()))
        pairs.emplace_back(statement.text(0), statement.text(1));
    return pairs;
}

Result<>
put_pairs(db::Connection& writer, const PairTable& table, std::int64_t owner, const Pairs& pairs)
{
    for (const auto& [key, value] : pairs) {
        auto statement = TRY(writer.prepare(fmt::format(
            "INSERT OR REPLACE INTO {}({}, key, value) VALUES(?, ?, ?)", table.name, table.owner)));
        TRY(statement.bind(owner, key, value).run());
    }
    return {};
}

Result<bool> remove_pair(db::Connection& writer,
                         const PairTable& table,
                         std::int64_t owner,
                         const std::string& key)
{
    auto statement = TRY(writer.prepare(
        fmt::format("DELETE FROM {} WHERE {} = ? AND key = ?", table.name, table.owner)));
    TRY(statement.bind(owner, key).run());
    return writer.changes() > 0;
}

}  // namespace ponk::store

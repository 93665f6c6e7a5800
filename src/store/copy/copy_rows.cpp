// SPDX-License-Identifier: Apache-2.0
#include "store/copy/copy_rows.hpp"

#include "base/time.hpp"
#include "store/models/model_row.hpp"
#include "store/models/registry_row.hpp"
#include "store/points/series.hpp"
#include "store/rows/artifact_location.hpp"
#include "store/rows/event_row.hpp"
#include "store/rows/project_row.hpp"

#include <limits>

namespace ponk::store {

namespace {

constexpr auto everything = std::numeric_limits<std::size_t>::max();

// Where files of a logged model are unless somebody said otherwise.
Result<std::string>
usual_location(db::Connection& connection, std::int64_t experiment, const std::string& model)
{
    auto statement = TRY(connection.prepare("SELECT location FROM project WHERE row = ?"));
    statement.bind(experiment);
    if (!TRY(statement.step()))
        return fail(ErrorKind::internal, "experiment {} no longer exists", experiment);
    return below_location(artifact_location(experiment, statement.text(0)),
                          fmt::format("models/{}/artifacts", model));
}

Result<std::int64_t> free_number(db::Connection& writer, std::int64_t project, std::int64_t number)
{
    if (number <= 0) return next_run_number(writer, project);
    auto taken = TRY(writer.prepare("SELECT 1 FROM run WHERE project = ? AND number = ?"));
    taken.bind(project, number);
    if (TRY(taken.step())) return next_run_number(writer, project);
    auto raise =
        TRY(writer.prepare("UPDATE project SET last_number = max(last_number, ?) WHERE row = ?"));
    TRY(raise.bind(number, project).run());
    return number;
}

Result<> insert_events(db::Connection& writer, std::int64_t run, const std::vector<Event>& events)
{
    auto insert = TRY(
        writer.prepare("INSERT INTO event(run, number, time, kind, text) VALUES(?, ?, ?, ?, ?)"));
    for (const auto& event : events)
        TRY(insert.bind(run, event.number, event.time, event.kind, event.text).run());
    return {};
}

}  // namespace

Result<ExperimentCopy> read_experiment_copy(db::Connection& connection, std::int64_t row)
{
    auto statement = TRY(
        connection.prepare("SELECT id, name, path, origin, experiment, location, deleted, created,"
                           " updated FROM project WHERE row = ?"));
    statement.bind(row);
    if (!TRY(statement.step())) return fail(ErrorKind::not_found, "there is no experiment {}", row);
    auto tags = TRY(read_pairs(connection, {"experiment_tag", "project"}, row));
    return ExperimentCopy{.id = row,
                          .project = statement.text(0),
                          .project_name = statement.text(1),
                          .path = statement.text(2),
                          .kind = statement.text(3) == "folder" ? ExperimentCopy::Kind::folder
                                                                : ExperimentCopy::Kind::client,
                          .name = statement.text(4),
                          .location = statement.text(5),
                          .deleted = statement.integer(6),
                          .created = statement.integer(7),
                          .updated = statement.integer(8),
                          .tags = std::move(tags)};
}

Result<std::optional<StoredCopy>> find_run_copy(db::Connection& connection, const RunId& id)
{
    auto found = TRY(find_stored_run(connection, id));
    if (!found) return std::optional<StoredCopy>();
    StoredCopy stored;
    stored.row = found->row;
    stored.copy.run = std::move(found->run);
    auto more = TRY(connection.prepare("SELECT origin, deleted, project FROM run WHERE row = ?"));
    more.bind(stored.row);
    if (!TRY(more.step())) return fail(ErrorKind::internal, "row {} of a run is gone", stored.row);
    const bool client = more.text(0) == to_string(Origin::client);
    stored.copy.origin = client ? Origin::client : Origin::engine;
    stored.copy.deleted = more.integer(1);
    stored.experiment = more.integer(2);
    stored.copy.inputs = std::move(TRY(read_run_inputs(connection, {stored.row}))[stored.row]);
    stored.copy.events = TRY(read_events(connection, stored.row, 0, everything));
    return std::optional(std::move(stored));
}

Result<std::optional<ModelCopy>> find_model_copy(db::Connection& connection, const std::string& id)
{
    auto find = TRY(connection.prepare("SELECT row, deleted FROM logged_model WHERE id = ?"));
    find.bind(id);
    if (!TRY(find.step())) return std::optional<ModelCopy>();
    ModelCopy copy{TRY(read_model(connection, find.integer(0))), find.integer(1) != 0};
    auto& location = copy.model.location;
    if (location == TRY(usual_location(connection, copy.model.experiment, id))) location.clear();
    return std::optional(std::move(copy));
}

Result<std::optional<RegisteredCopy>> find_registered_copy(db::Connection& connection,
                                                           const std::string& name)
{
    auto find =
        TRY(connection.prepare("SELECT row, last_version FROM registered_model WHERE name = ?"));
    find.bind(name);
    if (!TRY(find.step())) return std::optional<RegisteredCopy>();
    const auto row = find.integer(0);
    RegisteredCopy copy{TRY(read_registered(connection, row)), find.integer(1), {}};
    copy.model.latest.clear();
    auto versions =
        TRY(connection.prepare("SELECT row FROM model_version WHERE model = ? ORDER BY version"));
    versions.bind(row);
    while (TRY(versions.step())) {
        copy.versions.push_back(
            TRY(read_version(connection, versions.integer(0), Aliases::leave_out)));
    }
    return std::optional(std::move(copy));
}

Result<> insert_run_copy(db::Connection& writer, std::int64_t experiment, const RunCopy& copy)
{
    auto run = copy.run;
    run.number = TRY(free_number(writer, experiment, run.number));
    if (copy.origin == Origin::engine) run.imported = wall_milliseconds();
    const auto row = TRY(insert_run(writer, experiment, run, copy.origin));
    if (copy.deleted != 0) {
        auto mark = TRY(writer.prepare("UPDATE run SET deleted = ? WHERE row = ?"));
        TRY(mark.bind(copy.deleted, row).run());
    }
    TRY(insert_run_inputs(writer, {row, experiment, {}}, copy.inputs));
    TRY(insert_events(writer, row, copy.events));
    return add_points(writer, row, copy.points);
}

Result<> insert_model_copy(db::Connection& writer, const ModelCopy& copy, std::size_t& left_out)
{
    const auto& model = copy.model;
    auto insert = TRY(writer.prepare(
        "INSERT INTO logged_model(id, project, name, type, status, source_run, location, created,"
        " updated, deleted) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(model.id,
                model.experiment,
                model.name,
                model.type,
                model.status,
                model.source_run,
                model.location.empty() ? TRY(usual_location(writer, model.experiment, model.id))
                                       : model.location,
                model.created,
                model.updated,
                int{copy.deleted});
    TRY(insert.run());
    const auto row = writer.last_row();
    TRY(put_pairs(writer, model_params, row, model.params));
    TRY(put_pairs(writer, model_tags, row, model.tags));
    for (const auto& metric : model.metrics) {
        const auto id = RunId::parse(metric.run);
        auto run = id ? get_run_row(writer, *id) : Result<std::int64_t>(tl::unexpected(id.error()));
        if (run) {
            TRY(store_model_metrics(writer, *run, {metric}));
        } else {
            ++left_out;
        }
    }
    return {};
}

Result<> insert_registered_copy(db::Connection& writer, const RegisteredCopy& copy)
{
    const auto& model = copy.model;
    auto last = copy.last_version;
    for (const auto& version : copy.versions)
        last = std::max(last, version.version);
    auto insert = TRY(writer.prepare("INSERT INTO registered_model(name, description, created,"
                                     " updated, last_version) VALUES(?, ?, ?, ?, ?)"));
    insert.bind(model.name, model.description, model.created, model.updated, last);
    TRY(insert.run());
    const auto row = writer.last_row();
    TRY(put_pairs(writer, registered_tags, row, model.tags));
    for (const auto& version : copy.versions)
        TRY(insert_version(writer, row, version));
    auto alias = TRY(writer.prepare(
        "INSERT INTO registered_model_alias(model, alias, version) VALUES(?, ?, ?)"));
    for (const auto& [name, version] : model.aliases) {
        const auto of = TRY(get_version_row(writer, model.name, version));
        TRY(alias.bind(row, name, of).run());
    }
    return {};
}

}  // namespace ponk::store

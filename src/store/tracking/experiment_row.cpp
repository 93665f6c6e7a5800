// SPDX-License-Identifier: Apache-2.0
#include "store/tracking/experiment_row.hpp"

#include <fmt/format.h>

namespace ponk::store {

const std::string_view experiment_columns =
    "project.row, project.experiment, project.location, project.deleted, project.created,"
    " project.updated, project.origin";

Experiment read_experiment(const db::Statement& row)
{
    return {.id = row.integer(0),
            .name = row.text(1),
            .location = row.text(2),
            .deleted = row.integer(3) != 0,
            .created = row.integer(4),
            .updated = row.integer(5),
            .kind = row.text(6) == "folder" ? Experiment::Kind::folder : Experiment::Kind::client};
}

Result<> read_experiment_tags(db::Connection& connection, Experiment& experiment)
{
    auto tags = TRY(
        connection.prepare("SELECT key, value FROM experiment_tag WHERE project = ? ORDER BY key"));
    tags.bind(experiment.id);
    while (TRY(tags.step()))
        experiment.tags.emplace_back(tags.text(0), tags.text(1));
    return {};
}

Result<Experiment> get_stored_experiment(db::Connection& connection, std::int64_t id)
{
    auto statement = TRY(connection.prepare(
        fmt::format("SELECT {} FROM project WHERE row = ?", experiment_columns)));
    statement.bind(id);
    if (!TRY(statement.step()))
        return fail(ErrorKind::not_found, "No Experiment with id={} exists", id);
    return read_experiment(statement);
}

Result<Experiment> get_active_experiment(db::Connection& connection, std::int64_t id)
{
    auto experiment = TRY(get_stored_experiment(connection, id));
    if (experiment.deleted) {
        return fail(ErrorKind::invalid_argument,
                    "The experiment {} must be in the 'active' state. Current state is deleted.",
                    id);
    }
    return experiment;
}

}  // namespace ponk::store

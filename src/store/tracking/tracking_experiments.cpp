// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/rows/project_row.hpp"
#include "store/rows/tag_room.hpp"
#include "store/tracking/experiment_row.hpp"
#include "store/tracking/tracking.hpp"

namespace ponk::store {

namespace {

// Also a deleted one holds its name.
Result<> require_free_name(db::Connection& writer, const std::string& name, std::int64_t but_for)
{
    auto statement =
        TRY(writer.prepare("SELECT row, deleted FROM project WHERE experiment = ? AND row <> ?"));
    statement.bind(name, but_for);
    if (!TRY(statement.step())) return {};
    const bool deleted = statement.integer(1) != 0;
    return fail(ErrorKind::conflict,
                "Experiment(name={}) already exists{}",
                printable(name),
                deleted ? fmt::format(" in the deleted state. Restore experiment {} or choose"
                                      " another name",
                                      statement.integer(0))
                        : ".");
}

Result<>
put_tag(db::Connection& writer, std::int64_t id, const std::string& key, const std::string& value)
{
    auto put = TRY(writer.prepare(
        "INSERT OR REPLACE INTO experiment_tag(project, key, value) VALUES(?, ?, ?)"));
    return put.bind(id, key, value).run();
}

// Sets the experiment and all its runs aside, or brings all of them back.
Result<> set_deleted(db::Connection& writer, std::int64_t id, bool deleted)
{
    const auto experiment = TRY(get_stored_experiment(writer, id));
    if (experiment.deleted == deleted) {
        return fail(ErrorKind::not_found,
                    "No {} Experiment with id={} exists",
                    deleted ? "active" : "deleted",
                    id);
    }
    const auto now = wall_milliseconds();
    auto mark = TRY(writer.prepare("UPDATE project SET deleted = ?, updated = ? WHERE row = ?"));
    TRY(mark.bind(deleted ? now : 0, now, id).run());
    auto runs = TRY(writer.prepare(deleted ? "UPDATE run SET deleted = ? WHERE project = ?"
                                             " AND deleted = 0"
                                           : "UPDATE run SET deleted = ? WHERE project = ?"
                                             " AND deleted <> 0"));
    return runs.bind(deleted ? now : 0, id).run();
}

}  // namespace

Result<std::int64_t>
Tracking::create_experiment(const std::string& name, const std::string& location, const Pairs& tags)
{
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<std::int64_t> {
            TRY(require_free_name(writer, name, -1));
            const auto row = TRY(next_project_row(writer));
            const auto now = wall_milliseconds();
            auto insert = TRY(writer.prepare(
                "INSERT INTO project(row, id, name, path, origin, experiment, location, created,"
                " updated) VALUES(?, ?, ?, '', 'client', ?, ?, ?, ?)"));
            TRY(insert
                    .bind(row,
                          // No folder's project is called so, nor another experiment ever again.
                          "experiment:" + RunId::make().text(),
                          name,
                          name,
                          location,
                          now,
                          now)
                    .run());
            for (const auto& [key, value] : tags)
                TRY(put_tag(writer, row, key, value));
            TRY(check_tag_room(writer, TagOwner::experiment, row));
            return row;
        });
}

Result<Experiment> Tracking::get_experiment(std::int64_t id) const
{
    return history_.impl_->database->read([&](db::Connection& reader) -> Result<Experiment> {
        auto experiment = TRY(get_stored_experiment(reader, id));
        TRY(read_experiment_tags(reader, experiment));
        return experiment;
    });
}

Result<Experiment> Tracking::get_experiment_named(const std::string& name) const
{
    return history_.impl_->database->read([&](db::Connection& reader) -> Result<Experiment> {
        auto statement = TRY(reader.prepare(fmt::format(
            "SELECT {} FROM project WHERE experiment = ? ORDER BY row", experiment_columns)));
        statement.bind(name);
        if (!TRY(statement.step())) {
            return fail(
                ErrorKind::not_found, "Could not find experiment with name '{}'", printable(name));
        }
        auto experiment = read_experiment(statement);
        TRY(read_experiment_tags(reader, experiment));
        return experiment;
    });
}

Result<> Tracking::rename_experiment(std::int64_t id, const std::string& name)
{
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto experiment = TRY(get_stored_experiment(writer, id));
            if (experiment.deleted) {
                return fail(
                    ErrorKind::cancelled, "Cannot rename the experiment {}, which is deleted", id);
            }
            TRY(require_free_name(writer, name, id));
            auto rename = TRY(writer.prepare(
                "UPDATE project SET experiment = ?1, updated = ?2,"
                // What a folder is called its project.json says.
                " name = CASE origin WHEN 'client' THEN ?1 ELSE name END WHERE row = ?3"));
            return rename.bind(name, wall_milliseconds(), id).run();
        });
}

Result<> Tracking::delete_experiment(std::int64_t id)
{
    return history_.impl_->database->write(db::Durability::disk, [&](db::Connection& writer) {
        return set_deleted(writer, id, true);
    });
}

Result<> Tracking::restore_experiment(std::int64_t id)
{
    return history_.impl_->database->write(db::Durability::disk, [&](db::Connection& writer) {
        return set_deleted(writer, id, false);
    });
}

Result<>
Tracking::set_experiment_tag(std::int64_t id, const std::string& key, const std::string& value)
{
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            TRY(get_active_experiment(writer, id));
            TRY(put_tag(writer, id, key, value));
            return check_tag_room(writer, TagOwner::experiment, id);
        });
}

Result<> Tracking::delete_experiment_tag(std::int64_t id, const std::string& key)
{
    return history_.impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            TRY(get_active_experiment(writer, id));
            auto remove =
                TRY(writer.prepare("DELETE FROM experiment_tag WHERE project = ? AND key = ?"));
            TRY(remove.bind(id, key).run());
            if (writer.changes() > 0) return {};
            return fail(ErrorKind::not_found,
                        "No tag with name: {} in experiment with id {}",
                        printable(key),
                        id);
        });
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/history/saved_views.hpp"
#include "store/rows/project_row.hpp"
#include "store/rows/tracked_rows.hpp"

namespace ponk::store {

namespace {

// The greatest row that a deleted project had.
constexpr const char* used_rows_setting = "project_rows_used";

const std::string select_summaries =
    "SELECT id, name, path, (SELECT count(*) FROM run WHERE run.project = project.row),"
    " (SELECT run.id FROM run WHERE run.project = project.row ORDER BY run.row DESC LIMIT 1)"
    " FROM project ";

Result<ProjectSummary> read_summary(const db::Statement& row)
{
    ProjectSummary summary{{row.text(0), row.text(1), row.text(2)}, row.integer(3), {}};
    if (!row.is_null(4)) summary.last_run = TRY(RunId::parse(row.text(4)));
    return summary;
}

Result<std::optional<ProjectSummary>>
find_one(db::Connection& reader, const std::string& condition, const std::string& value)
{
    auto statement = TRY(reader.prepare(select_summaries + condition));
    statement.bind(value);
    if (!TRY(statement.step())) return std::optional<ProjectSummary>();
    return std::optional(TRY(read_summary(statement)));
}

Result<> refuse_while_active(db::Connection& writer, std::int64_t row, const std::string& id)
{
    auto statement =
        TRY(writer.prepare("SELECT id, state FROM run WHERE project = ?"
                           " AND state NOT IN ('Completed', 'Failed', 'Canceled', 'Lost')"
                           " AND origin = 'engine'"
                           " LIMIT 1"));
    statement.bind(row);
    if (!TRY(statement.step())) return {};
    return tl::unexpected(Error(ErrorKind::conflict,
                                fmt::format("project '{}' cannot be deleted: its run '{}' is {}",
                                            printable(id),
                                            statement.text(0),
                                            statement.text(1)),
                                "Cancel the run or wait for its end."));
}

Result<std::int64_t> insert_project(db::Connection& writer, const Project& project)
{
    const auto row = TRY(next_project_row(writer));
    const auto experiment =
        TRY(free_experiment_name(writer, project.name.empty() ? project.id : project.name, row));
    const auto now = wall_milliseconds();
    auto insert = TRY(writer.prepare("INSERT INTO project(row, id, name, path, experiment, created,"
                                     " updated, place, repository)"
                                     " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    TRY(insert
            .bind(row,
                  project.id,
                  project.name,
                  project.path,
                  experiment,
                  now,
                  now,
                  project.place,
                  project.repository)
            .run());
    return row;
}

// The experiment is called as the project, unless a client gave it another name.
Result<> change_project(db::Connection& writer,
                        std::int64_t row,
                        const Project& project,
                        const std::string& name_before)
{
    auto update = TRY(writer.prepare(
        "UPDATE project SET name = ?, path = ?, place = ?, repository = ? WHERE row = ?"));
    TRY(update.bind(project.name, project.path, project.place, project.repository, row).run());
    if (project.name == name_before || project.name.empty()) return {};
    const auto experiment = TRY(free_experiment_name(writer, project.name, row));
    auto rename =
        TRY(writer.prepare("UPDATE project SET experiment = ? WHERE row = ? AND experiment = ?"));
    return rename.bind(experiment, row, name_before).run();
}

}  // namespace

Result<std::int64_t> next_project_row(db::Connection& writer)
{
    auto statement = TRY(writer.prepare(
        "SELECT max((SELECT max(row) FROM project),"
        " coalesce((SELECT CAST(value AS INTEGER) FROM setting WHERE name = ?), 0)) + 1"));
    statement.bind(used_rows_setting);
    if (!TRY(statement.step())) return fail(ErrorKind::internal, "no row for a project");
    return statement.integer(0);
}

Result<std::string>
free_experiment_name(db::Connection& writer, const std::string& name, std::int64_t row)
{
    auto taken = TRY(writer.prepare("SELECT 1 FROM project WHERE experiment = ? AND row <> ?"));
    auto wanted = name;
    for (;;) {
        taken.bind(wanted, row);
        if (!TRY(taken.step())) return wanted;
        taken.reset();
        wanted += fmt::format(" ({})", row);
    }
}

Result<std::int64_t>
ensure_project(db::Connection& writer, const std::string& id, const std::string& path)
{
    auto find = TRY(writer.prepare("SELECT row, path FROM project WHERE id = ?"));
    find.bind(id);
    if (TRY(find.step())) {
        const auto row = find.integer(0);
        if (path.empty() || find.text(1) == path) return row;
        auto move = TRY(writer.prepare("UPDATE project SET path = ? WHERE row = ?"));
        TRY(move.bind(path, row).run());
        return row;
    }
    const auto name = Path(path).filename().native();
    return insert_project(writer, {id, name.empty() ? id : name, path});
}

Result<std::int64_t> get_project_row(db::Connection& connection, const std::string& id)
{
    auto statement = TRY(connection.prepare("SELECT row FROM project WHERE id = ?"));
    statement.bind(id);
    if (TRY(statement.step())) return statement.integer(0);
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("there is no project '{}' in history", printable(id)),
                                "'ponk project list' lists the projects."));
}

Result<> History::put_project(const Project& project)
{
    if (project.id.empty()) return fail(ErrorKind::invalid_argument, "a project without an id");
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        auto find = TRY(
            writer.prepare("SELECT row, name, path, place, repository FROM project WHERE id = ?"));
        find.bind(project.id);
        if (!TRY(find.step())) {
            TRY(insert_project(writer, project));
            return {};
        }
        // What is stored already needs no disk.
        if (find.text(1) == project.name && find.text(2) == project.path &&
            find.text(3) == project.place && find.text(4) == project.repository)
            return {};
        return change_project(writer, find.integer(0), project, find.text(1));
    });
}

Result<std::vector<ProjectSummary>> History::projects() const
{
    return impl_->database->read([](db::Connection& reader) -> Result<std::vector<ProjectSummary>> {
        auto statement = TRY(reader.prepare(
            select_summaries +
            // What clients made and never used would only be in the way.
            "WHERE origin = 'folder' OR (deleted = 0 AND EXISTS"
            " (SELECT 1 FROM run WHERE run.project = project.row)) ORDER BY name, id"));
        std::vector<ProjectSummary> all;
        while (TRY(statement.step()))
            all.push_back(TRY(read_summary(statement)));
        return all;
    });
}

Result<std::optional<ProjectSummary>> History::find_project(const std::string& id) const
{
    return impl_->database->read(
        [&](db::Connection& reader) { return find_one(reader, "WHERE id = ?", id); });
}

Result<std::string> History::experiment_name(const std::string& project) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::string> {
        auto row = TRY(reader.prepare("SELECT experiment FROM project WHERE id = ?"));
        row.bind(project);
        return TRY(row.step()) ? row.text(0) : std::string();
    });
}

Result<std::optional<ProjectSummary>> History::find_project_at(const std::string& path) const
{
    // Two ids may have had the folder one after the other: the later one counts.
    return impl_->database->read([&](db::Connection& reader) {
        return find_one(reader, "WHERE path = ? ORDER BY row DESC LIMIT 1", path);
    });
}

Result<std::vector<Project>> History::projects_like(const std::string& place,
                                                    const std::string& repository) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::vector<Project>> {
        auto statement = TRY(reader.prepare(
            "SELECT id, name, path, place, repository FROM project WHERE origin = 'folder' AND"
            " ((place <> '' AND place = ?) OR (repository <> '' AND repository = ?))"
            " ORDER BY row DESC"));
        statement.bind(place, repository);
        std::vector<Project> all;
        while (TRY(statement.step()))
            all.push_back({statement.text(0),
                           statement.text(1),
                           statement.text(2),
                           statement.text(3),
                           statement.text(4)});
        return all;
    });
}

Result<> History::delete_project(const std::string& id)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_project_row(writer, id));
        TRY(refuse_while_active(writer, row, id));
        if (row == default_experiment) {
            return fail(ErrorKind::conflict, "the experiment 'Default' cannot be deleted");
        }
        auto note = TRY(writer.prepare(
            "INSERT INTO setting(name, value) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE"
            " SET value = max(CAST(value AS INTEGER), CAST(?2 AS INTEGER))"));
        TRY(note.bind(used_rows_setting, std::to_string(row)).run());
        auto views = TRY(writer.prepare("DELETE FROM setting WHERE name >= ? AND name < ?"));
        TRY(views.bind(SavedViews::first_place(id), SavedViews::end_place(id)).run());
        auto remove = TRY(writer.prepare("DELETE FROM project WHERE row = ?"));
        return remove.bind(row).run();
    });
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "store/history.hpp"
#include "store/history_impl.hpp"
#include "store/project_row.hpp"

namespace ponk::store {

namespace {

constexpr const char* upsert =
    "INSERT INTO project(id, name, path) VALUES(?, ?, ?)"
    " ON CONFLICT(id) DO UPDATE SET name = excluded.name, path = excluded.path"
    // What is stored already needs no disk.
    " WHERE name IS NOT excluded.name OR path IS NOT excluded.path";

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

}  // namespace

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
    auto insert = TRY(writer.prepare("INSERT INTO project(id, name, path) VALUES(?, ?, ?)"));
    const auto name = Path(path).filename().native();
    TRY(insert.bind(id, name.empty() ? id : name, path).run());
    return writer.last_row();
}

Result<std::int64_t> get_project_row(db::Connection& connection, const std::string& id)
{
    auto statement = TRY(connection.prepare("SELECT row FROM project WHERE id = ?"));
    statement.bind(id);
    if (TRY(statement.step())) return statement.integer(0);
    return tl::unexpected(Error(ErrorKind::not_found,
                                fmt::format("there is no project '{}' in history", printable(id)),
                                "'ponk project list' shows those there are."));
}

Result<> History::put_project(const Project& project)
{
    if (project.id.empty()) return fail(ErrorKind::invalid_argument, "a project without an id");
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        auto statement = TRY(writer.prepare(upsert));
        return statement.bind(project.id, project.name, project.path).run();
    });
}

Result<std::vector<ProjectSummary>> History::projects() const
{
    return impl_->database->read([](db::Connection& reader) -> Result<std::vector<ProjectSummary>> {
        auto statement = TRY(reader.prepare(select_summaries + "ORDER BY name, id"));
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

Result<std::optional<ProjectSummary>> History::find_project_at(const std::string& path) const
{
    // Two ids may have had the folder one after the other: the later one counts.
    return impl_->database->read([&](db::Connection& reader) {
        return find_one(reader, "WHERE path = ? ORDER BY row DESC LIMIT 1", path);
    });
}

Result<> History::delete_project(const std::string& id)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_project_row(writer, id));
        TRY(refuse_while_active(writer, row, id));
        auto remove = TRY(writer.prepare("DELETE FROM project WHERE row = ?"));
        return remove.bind(row).run();
    });
}

}  // namespace ponk::store

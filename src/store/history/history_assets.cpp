// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "base/time.hpp"
#include "store/history/history.hpp"
#include "store/history/history_impl.hpp"
#include "store/rows/project_row.hpp"

namespace ponk::store {

namespace {

constexpr std::string_view select_assets =
    "SELECT project.id, asset.name, version, run, asset.path, digest, size, asset.created"
    " FROM asset CROSS JOIN project ON project.row = asset.project ";

Result<std::vector<Asset>> read_assets(db::Statement statement)
{
    std::vector<Asset> all;
    while (TRY(statement.step())) {
        auto run = TRY(RunId::parse(statement.text(3)));
        all.push_back({.project = statement.text(0),
                       .name = statement.text(1),
                       .version = statement.integer(2),
                       .run = std::move(run),
                       .path = statement.text(4),
                       .digest = statement.text(5),
                       .size = static_cast<std::uint64_t>(statement.integer(6)),
                       .created = statement.integer(7)});
    }
    return all;
}

Result<std::int64_t>
next_version(db::Connection& writer, std::int64_t project, const std::string& name)
{
    auto statement =
        TRY(writer.prepare("SELECT max(version) FROM asset WHERE project = ? AND name = ?"));
    statement.bind(project, name);
    TRY(statement.step());
    return statement.integer(0) + 1;
}

}  // namespace

Result<Asset> History::add_asset(const Asset& asset)
{
    if (asset.name.empty()) return fail(ErrorKind::invalid_argument, "an asset without a name");
    return impl_->database->write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<Asset> {
            const auto project = TRY(get_project_row(writer, asset.project));
            Asset made = asset;
            made.version = TRY(next_version(writer, project, asset.name));
            if (made.created == 0) made.created = wall_milliseconds();
            auto insert = TRY(writer.prepare(
                "INSERT INTO asset(project, name, version, run, path, digest, size, created)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
            insert.bind(project,
                        made.name,
                        made.version,
                        made.run.text(),
                        made.path,
                        made.digest,
                        static_cast<std::int64_t>(made.size),
                        made.created);
            TRY(insert.run());
            return made;
        });
}

Result<std::vector<Asset>> History::assets(const std::string& project) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::vector<Asset>> {
        auto statement = TRY(reader.prepare(
            std::string(select_assets) +
            "WHERE project.id = ?1 AND version = (SELECT max(version) FROM asset AS other"
            " WHERE other.project = asset.project AND other.name = asset.name) ORDER BY "
            "asset.name"));
        statement.bind(project);
        return read_assets(std::move(statement));
    });
}

Result<std::vector<Asset>> History::asset_versions(const std::string& project,
                                                   const std::string& name) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::vector<Asset>> {
        auto statement =
            TRY(reader.prepare(std::string(select_assets) +
                               "WHERE project.id = ? AND asset.name = ? ORDER BY version DESC"));
        statement.bind(project, name);
        return read_assets(std::move(statement));
    });
}

Result<> History::delete_asset(const std::string& project, const std::string& name)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        const auto row = TRY(get_project_row(writer, project));
        auto remove = TRY(writer.prepare("DELETE FROM asset WHERE project = ? AND name = ?"));
        TRY(remove.bind(row, name).run());
        if (writer.changes() > 0) return {};
        return fail(ErrorKind::not_found, "there is no asset '{}'", printable(name));
    });
}

}  // namespace ponk::store

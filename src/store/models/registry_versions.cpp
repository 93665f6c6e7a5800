// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "store/history/history_access.hpp"
#include "store/models/model_row.hpp"
#include "store/models/registry_row.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

constexpr std::string_view no_stage = "None";
constexpr const char* versions_tag = "mlflow.modelVersions";

Result<std::int64_t> next_version(db::Connection& writer, std::int64_t model, std::int64_t now)
{
    auto count = TRY(writer.prepare("UPDATE registered_model SET last_version = last_version + 1,"
                                    " updated = ? WHERE row = ? RETURNING last_version"));
    count.bind(now, model);
    TRY(count.step());
    return count.integer(0);
}

// The logged model knows which versions it became: [{"name": "x", "version": 1}].
Result<> tell_logged_model(db::Connection& writer, const ModelVersion& version)
{
    const auto found = get_model_row(writer, version.logged_model);
    // A version may outlive the model that it was made of.
    if (!found && found.error().kind() == ErrorKind::not_found) return {};
    const auto row = TRY(Result<std::int64_t>(found));
    JsonArray versions;
    for (const auto& [key, value] : TRY(read_pairs(writer, model_tags, row))) {
        if (key != versions_tag) continue;
        if (auto known = parse_json(value); known && known->is_array())
            versions = std::move(known->as_array());
    }
    versions.emplace_back(JsonObject{{"name", version.name}, {"version", version.version}});
    return put_pairs(writer, model_tags, row, {{versions_tag, to_json(versions)}});
}

Result<std::vector<std::string>> aliases_of(db::Connection& connection, std::int64_t row)
{
    auto statement = TRY(connection.prepare(
        "SELECT alias FROM registered_model_alias WHERE version = ? ORDER BY alias"));
    statement.bind(row);
    std::vector<std::string> aliases;
    while (TRY(statement.step()))
        aliases.push_back(statement.text(0));
    return aliases;
}

}  // namespace

Result<std::int64_t>
get_version_row(db::Connection& connection, const std::string& name, std::int64_t version)
{
    auto statement = TRY(
        connection.prepare("SELECT model_version.row FROM registered_model"
                           " CROSS JOIN model_version ON model_version.model = registered_model.row"
                           " WHERE name = ? AND version = ?"));
    statement.bind(name, version);
    if (TRY(statement.step())) return statement.integer(0);
    return fail(ErrorKind::not_found,
                "Model Version (name={}, version={}) not found",
                printable(name),
                version);
}

Result<ModelVersion> read_version(db::Connection& connection, std::int64_t row, Aliases aliases)
{
    auto statement = TRY(connection.prepare(
        "SELECT name, version, model_version.created, model_version.updated,"
        " model_version.description, stage, source, location, run, run_link, logged_model"
        " FROM model_version CROSS JOIN registered_model ON registered_model.row = model"
        " WHERE model_version.row = ?"));
    statement.bind(row);
    if (!TRY(statement.step()))
        return fail(ErrorKind::internal, "row {} of a model version is gone", row);
    ModelVersion version{.name = statement.text(0),
                         .version = statement.integer(1),
                         .created = statement.integer(2),
                         .updated = statement.integer(3),
                         .description = statement.text_if_any(4),
                         .stage = statement.text(5),
                         .source = statement.text(6),
                         .location = statement.text(7),
                         .run = statement.text(8),
                         .run_link = statement.text(9),
                         .logged_model = statement.text(10)};
    version.tags = TRY(read_pairs(connection, version_tags, row));
    if (aliases == Aliases::include) version.aliases = TRY(aliases_of(connection, row));
    return version;
}

Result<std::int64_t>
insert_version(db::Connection& writer, std::int64_t model, const ModelVersion& version)
{
    auto insert = TRY(writer.prepare(
        "INSERT INTO model_version(model, version, created, updated, description, stage, source,"
        " location, run, run_link, logged_model) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    insert.bind(model,
                version.version,
                version.created,
                version.updated,
                version.description,
                version.stage,
                version.source,
                version.location,
                version.run,
                version.run_link,
                version.logged_model);
    TRY(insert.run());
    const auto row = writer.last_row();
    TRY(put_pairs(writer, version_tags, row, version.tags));
    return row;
}

Result<ModelVersion> Registry::create_version(const NewVersion& version)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<ModelVersion> {
            const auto model = TRY(get_registered_row(writer, version.name));
            const auto now = wall_milliseconds();
            const auto number = TRY(next_version(writer, model, now));
            const auto row = TRY(insert_version(writer,
                                                model,
                                                {.version = number,
                                                 .created = now,
                                                 .updated = now,
                                                 .description = version.description,
                                                 .stage = std::string(no_stage),
                                                 .source = version.source,
                                                 .location = version.location,
                                                 .run = version.run,
                                                 .run_link = version.run_link,
                                                 .logged_model = version.logged_model,
                                                 .tags = version.tags}));
            auto made = TRY(read_version(writer, row, Aliases::include));
            if (!made.logged_model.empty()) TRY(tell_logged_model(writer, made));
            return made;
        });
}

Result<ModelVersion> Registry::get_version(const std::string& name, std::int64_t version) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<ModelVersion> {
            const auto row = TRY(get_version_row(reader, name, version));
            return read_version(reader, row, Aliases::include);
        });
}

Result<ModelVersion> Registry::describe_version(const std::string& name,
                                                std::int64_t version,
                                                const std::optional<std::string>& description)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<ModelVersion> {
            const auto row = TRY(get_version_row(writer, name, version));
            auto change = TRY(writer.prepare(
                "UPDATE model_version SET description = ?, updated = ? WHERE row = ?"));
            TRY(change.bind(description, wall_milliseconds(), row).run());
            return read_version(writer, row, Aliases::include);
        });
}

Result<ModelVersion> Registry::set_stage(const std::string& name,
                                         std::int64_t version,
                                         const std::string& stage,
                                         Others others)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<ModelVersion> {
            const auto row = TRY(get_version_row(writer, name, version));
            const auto model = TRY(get_registered_row(writer, name));
            const auto now = wall_milliseconds();
            if (others == Others::archive) {
                auto archive =
                    TRY(writer.prepare("UPDATE model_version SET stage = 'Archived', updated = ?"
                                       " WHERE model = ? AND stage = ? AND row <> ?"));
                TRY(archive.bind(now, model, stage, row).run());
            }
            auto change = TRY(
                writer.prepare("UPDATE model_version SET stage = ?, updated = ? WHERE row = ?"));
            TRY(change.bind(stage, now, row).run());
            TRY(touch_registered(writer, model, now));
            return read_version(writer, row, Aliases::include);
        });
}

Result<> Registry::remove_version(const std::string& name, std::int64_t version)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_version_row(writer, name, version));
            auto remove = TRY(writer.prepare("DELETE FROM model_version WHERE row = ?"));
            TRY(remove.bind(row).run());
            return touch_registered(
                writer, TRY(get_registered_row(writer, name)), wall_milliseconds());
        });
}

Result<std::vector<ModelVersion>>
Registry::latest_versions(const std::string& name, const std::vector<std::string>& stages) const
{
    using Versions = std::vector<ModelVersion>;
    return HistoryAccess::database(history_).read([&](db::Connection& reader) -> Result<Versions> {
        Versions versions;
        for (const auto row : TRY(latest_rows(reader, TRY(get_registered_row(reader, name))))) {
            auto version = TRY(read_version(reader, row, Aliases::include));
            const bool wanted =
                stages.empty() ||
                std::find(stages.begin(), stages.end(), version.stage) != stages.end();
            if (wanted) versions.push_back(std::move(version));
        }
        return versions;
    });
}

Result<> Registry::set_version_tag(const std::string& name,
                                   std::int64_t version,
                                   const std::string& key,
                                   const std::string& value)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_version_row(writer, name, version));
            return put_pairs(writer, version_tags, row, {{key, value}});
        });
}

Result<>
Registry::remove_version_tag(const std::string& name, std::int64_t version, const std::string& key)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_version_row(writer, name, version));
            TRY(remove_pair(writer, version_tags, row, key));
            return {};
        });
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "store/models/registry.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "store/history/history_access.hpp"
#include "store/models/registry_row.hpp"

#include <algorithm>

namespace ponk::store {

namespace {

Result<std::optional<std::int64_t>> find_row(db::Connection& connection, const std::string& name)
{
    auto statement = TRY(connection.prepare("SELECT row FROM registered_model WHERE name = ?"));
    statement.bind(name);
    if (!TRY(statement.step())) return std::optional<std::int64_t>();
    return std::optional(statement.integer(0));
}

// Models and prompts share their names.
Error name_taken(const std::string& name, bool by_prompt, bool wanted_prompt)
{
    if (by_prompt == wanted_prompt)
        return {ErrorKind::conflict,
                fmt::format("{} (name={}) already exists.",
                            by_prompt ? "Prompt" : "Registered Model",
                            printable(name))};
    constexpr std::string_view words[] = {"registered model", "prompt"};
    return {
        ErrorKind::conflict,
        fmt::format("Tried to create a {} with name '{}', but the name is already taken by a {}."
                    " MLflow does not allow creating a model and a prompt with the same name.",
                    words[wanted_prompt ? 1 : 0],
                    printable(name),
                    words[by_prompt ? 1 : 0])};
}

Result<std::vector<std::pair<std::string, std::int64_t>>> read_aliases(db::Connection& connection,
                                                                       std::int64_t row)
{
    auto statement = TRY(connection.prepare(
        "SELECT alias, model_version.version FROM registered_model_alias"
        " CROSS JOIN model_version ON model_version.row = registered_model_alias.version"
        " WHERE registered_model_alias.model = ? ORDER BY alias"));
    statement.bind(row);
    std::vector<std::pair<std::string, std::int64_t>> aliases;
    while (TRY(statement.step()))
        aliases.emplace_back(statement.text(0), statement.integer(1));
    return aliases;
}

}  // namespace

bool is_prompt(const Pairs& tags)
{
    // Of a key that is there twice the last value counts.
    const auto found = std::find_if(
        tags.rbegin(), tags.rend(), [](const auto& tag) { return tag.first == prompt_tag; });
    return found != tags.rend() && same_ignoring_case(found->second, "true");
}

Result<std::int64_t> get_registered_row(db::Connection& connection, const std::string& name)
{
    if (const auto row = TRY(find_row(connection, name))) return *row;
    return fail(ErrorKind::not_found, "Registered Model with name={} not found", printable(name));
}

Result<std::vector<std::int64_t>> latest_rows(db::Connection& connection, std::int64_t model)
{
    // `row` is of the version that max() found.
    auto statement = TRY(connection.prepare(
        "SELECT max(version), row FROM model_version WHERE model = ? GROUP BY stage ORDER BY 1"));
    statement.bind(model);
    std::vector<std::int64_t> rows;
    while (TRY(statement.step()))
        rows.push_back(statement.integer(1));
    return rows;
}

Result<RegisteredModel> read_registered(db::Connection& connection, std::int64_t row)
{
    auto statement = TRY(connection.prepare(
        "SELECT name, description, created, updated FROM registered_model WHERE row = ?"));
    statement.bind(row);
    if (!TRY(statement.step())) return fail(ErrorKind::internal, "row {} of a model is gone", row);
    RegisteredModel model{.name = statement.text(0),
                          .description = statement.text(1),
                          .created = statement.integer(2),
                          .updated = statement.integer(3)};
    model.tags = TRY(read_pairs(connection, registered_tags, row));
    model.aliases = TRY(read_aliases(connection, row));
    for (const auto version : TRY(latest_rows(connection, row)))
        model.latest.push_back(TRY(read_version(connection, version, Aliases::leave_out)));
    return model;
}

Result<> touch_registered(db::Connection& writer, std::int64_t row, std::int64_t now)
{
    auto statement = TRY(writer.prepare("UPDATE registered_model SET updated = ? WHERE row = ?"));
    return statement.bind(now, row).run();
}

Result<RegisteredModel>
Registry::create(const std::string& name, const std::string& description, const Pairs& tags)
{
    using Made = Result<RegisteredModel>;
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Made {
            if (const auto taken = TRY(find_row(writer, name))) {
                const auto known = TRY(read_pairs(writer, registered_tags, *taken));
                return tl::unexpected(name_taken(name, is_prompt(known), is_prompt(tags)));
            }
            auto insert = TRY(
                writer.prepare("INSERT INTO registered_model(name, description, created, updated)"
                               " VALUES(?1, ?2, ?3, ?3)"));
            TRY(insert.bind(name, description, wall_milliseconds()).run());
            const auto row = writer.last_row();
            TRY(put_pairs(writer, registered_tags, row, tags));
            return read_registered(writer, row);
        });
}

Result<RegisteredModel> Registry::get(const std::string& name) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<RegisteredModel> {
            return read_registered(reader, TRY(get_registered_row(reader, name)));
        });
}

Result<RegisteredModel> Registry::rename(const std::string& name, const std::string& new_name)
{
    using Made = Result<RegisteredModel>;
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Made {
            const auto row = TRY(get_registered_row(writer, name));
            const auto taken = TRY(find_row(writer, new_name));
            if (taken && *taken != row) return tl::unexpected(name_taken(new_name, false, false));
            const auto now = wall_milliseconds();
            auto change = TRY(
                writer.prepare("UPDATE registered_model SET name = ?, updated = ? WHERE row = ?"));
            TRY(change.bind(new_name, now, row).run());
            auto versions =
                TRY(writer.prepare("UPDATE model_version SET updated = ? WHERE model = ?"));
            TRY(versions.bind(now, row).run());
            return read_registered(writer, row);
        });
}

Result<RegisteredModel> Registry::describe(const std::string& name, const std::string& description)
{
    using Made = Result<RegisteredModel>;
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Made {
            const auto row = TRY(get_registered_row(writer, name));
            auto change = TRY(writer.prepare(
                "UPDATE registered_model SET description = ?, updated = ? WHERE row = ?"));
            TRY(change.bind(description, wall_milliseconds(), row).run());
            return read_registered(writer, row);
        });
}

Result<> Registry::remove(const std::string& name)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            auto statement = TRY(writer.prepare("DELETE FROM registered_model WHERE row = ?"));
            return statement.bind(TRY(get_registered_row(writer, name))).run();
        });
}

Result<>
Registry::set_tag(const std::string& name, const std::string& key, const std::string& value)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_registered_row(writer, name));
            return put_pairs(writer, registered_tags, row, {{key, value}});
        });
}

Result<> Registry::remove_tag(const std::string& name, const std::string& key)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_registered_row(writer, name));
            TRY(remove_pair(writer, registered_tags, row, key));
            return {};
        });
}

Result<>
Registry::set_alias(const std::string& name, const std::string& alias, std::int64_t version)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            const auto row = TRY(get_version_row(writer, name, version));
            auto statement = TRY(writer.prepare(
                "INSERT OR REPLACE INTO registered_model_alias(model, alias, version)"
                " SELECT model, ?, row FROM model_version WHERE row = ?"));
            return statement.bind(alias, row).run();
        });
}

Result<> Registry::remove_alias(const std::string& name, const std::string& alias)
{
    return HistoryAccess::database(history_).write(
        db::Durability::disk, [&](db::Connection& writer) -> Result<> {
            auto statement = TRY(
                writer.prepare("DELETE FROM registered_model_alias WHERE model = ? AND alias = ?"));
            return statement.bind(TRY(get_registered_row(writer, name)), alias).run();
        });
}

Result<ModelVersion> Registry::get_by_alias(const std::string& name, const std::string& alias) const
{
    return HistoryAccess::database(history_).read(
        [&](db::Connection& reader) -> Result<ModelVersion> {
            const auto model = TRY(get_registered_row(reader, name));
            if (same_ignoring_case(alias, "latest")) {
                const auto rows = TRY(latest_rows(reader, model));
                if (rows.empty())
                    return fail(ErrorKind::not_found,
                                "Latest version not found for model {}.",
                                printable(name));
                return read_version(reader, rows.back(), Aliases::include);
            }
            auto statement = TRY(reader.prepare(
                "SELECT version FROM registered_model_alias WHERE model = ? AND alias = ?"));
            statement.bind(model, alias);
            if (!TRY(statement.step()))
                return fail(ErrorKind::invalid_argument,
                            "Registered model alias {} not found.",
                            printable(alias));
            return read_version(reader, statement.integer(0), Aliases::include);
        });
}

}  // namespace ponk::store

// SPDX-License-Identifier: Apache-2.0
#include "db/migration.hpp"

#include "db/connection.hpp"
#include "db/transaction.hpp"

namespace ponk::db {

namespace {

Result<> check_owner(Connection& connection, const Schema& schema)
{
    const auto found = TRY(connection.query_integer("PRAGMA application_id"));
    if (found == schema.application_id) return {};
    const auto tables = TRY(connection.query_integer("SELECT count(*) FROM sqlite_schema"));
    if (found == 0 && tables == 0) return {};
    return tl::unexpected(
        Error(ErrorKind::conflict,
              fmt::format("{} is a database of another program", os::in_quotes(connection.file())),
              "Move the file away, or set PONK_HOME to another folder."));
}

Result<> step(Connection& connection, const Schema& schema, std::size_t version)
{
    auto transaction = TRY(Transaction::begin(connection));
    TRY(connection.execute(std::string(schema.migrations.at(version - 1))));
    TRY(connection.execute(fmt::format("PRAGMA application_id={}", schema.application_id)));
    TRY(connection.execute(fmt::format("PRAGMA user_version={}", version)));
    return transaction.commit();
}

}  // namespace

Result<FileState> migrate(Connection& connection,
                          const Schema& schema,
                          const std::function<Result<>(int version)>& before)
{
    TRY(check_owner(connection, schema));
    const auto last = static_cast<std::int64_t>(schema.migrations.size());
    const auto version = TRY(connection.query_integer("PRAGMA user_version"));
    if (version > last) {
        return tl::unexpected(Error(
            ErrorKind::unavailable,
            fmt::format("database {} has version {}, but this ponk supports versions up to {}",
                        os::in_quotes(connection.file()),
                        version,
                        last),
            "Use the newer ponk that wrote it, or set PONK_HOME to another folder."));
    }
    if (version == last) return FileState::current;
    if (version > 0) TRY(before(static_cast<int>(version)));
    for (auto next = version + 1; next <= last; ++next) {
        TRY(step(connection, schema, static_cast<std::size_t>(next))
                .map_error(while_doing("bring the database to version {}", next)));
    }
    return version == 0 ? FileState::created : FileState::migrated;
}

}  // namespace ponk::db

// SPDX-License-Identifier: Apache-2.0
#include "db/transaction.hpp"

#include "base/work_budget.hpp"
#include "db/connection.hpp"

#include <utility>

namespace ponk::db {

Result<Transaction> Transaction::begin(Connection& connection, Kind kind)
{
    const WorkScope always(nullptr);  // none of these is ended halfway
    auto statement =
        TRY(connection.prepare(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED"));
    TRY(statement.run());
    return Transaction(connection);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr))
{
}

Transaction::~Transaction()
{
    // After some errors SQLite has rolled back by itself.
    if (!connection_ || !connection_->in_transaction()) return;
    const WorkScope always(nullptr);
    auto statement = connection_->prepare("ROLLBACK");
    if (statement) static_cast<void>(statement->run());
}

Result<> Transaction::commit()
{
    const WorkScope always(nullptr);
    auto statement = TRY(connection_->prepare("COMMIT"));
    return statement.run();
}

}  // namespace ponk::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

namespace ponk::db {

class Connection;

// All or nothing: undone unless committed. A write transaction takes the file's write lock at its
// beginning, so it never has to give up half-way.
class Transaction {
public:
    enum class Kind { write, read };

    static Result<Transaction> begin(Connection& connection, Kind kind = Kind::write);
    ~Transaction();
    Transaction(Transaction&& other) noexcept;
    Transaction& operator=(Transaction&&) = delete;

    // On failure everything is undone.
    Result<> commit();

private:
    explicit Transaction(Connection& connection) : connection_(&connection) {}
    Connection* connection_;
};

}  // namespace ponk::db

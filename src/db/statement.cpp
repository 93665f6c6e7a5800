// SPDX-License-Identifier: Apache-2.0
#include "db/statement.hpp"

#include "db/connection.hpp"

#include <sqlite3.h>

#include <utility>

namespace ponk::db {

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_), statement_(std::exchange(other.statement_, nullptr)),
      owner_(other.owner_), next_(other.next_), problem_(other.problem_)
{
}

Statement::~Statement()
{
    if (!statement_) return;
    if (owner_ == Owner::cache) {
        connection_->give_back(statement_);
    } else {
        ::sqlite3_finalize(statement_);
    }
}

void Statement::note(int code)
{
    if (code != SQLITE_OK && problem_ == SQLITE_OK) problem_ = code;
}

void Statement::put(std::nullptr_t)
{
    note(::sqlite3_bind_null(statement_, next_++));
}

void Statement::put(std::int64_t value)
{
    note(::sqlite3_bind_int64(statement_, next_++, value));
}

void Statement::put(double value)
{
    note(::sqlite3_bind_double(statement_, next_++, value));
}

void Statement::put(std::string_view value)
{
    // An empty view may have no address, which SQLite would store as NULL.
    const char* data = value.data() ? value.data() : "";
    note(::sqlite3_bind_text64(
        statement_, next_++, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::put(Blob value)
{
    const char* data = value.bytes.data() ? value.bytes.data() : "";
    note(::sqlite3_bind_blob64(statement_, next_++, data, value.bytes.size(), SQLITE_TRANSIENT));
}

Result<bool> Statement::step()
{
    if (problem_ != SQLITE_OK) return tl::unexpected(connection_->note_failure(problem_));
    const int code = ::sqlite3_step(statement_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return tl::unexpected(connection_->note_failure(code));
}

Result<> Statement::run()
{
    for (;;) {
        const auto row = step();
        if (!row) return tl::unexpected(row.error());
        if (!*row) break;
    }
    reset();
    return {};
}

void Statement::reset()
{
    ::sqlite3_reset(statement_);
    next_ = 1;
    problem_ = SQLITE_OK;
}

bool Statement::is_null(int column) const
{
    return ::sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const
{
    return ::sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const
{
    return ::sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const
{
    const auto* data = ::sqlite3_column_text(statement_, column);
    const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(statement_, column));
    return data ? std::string(reinterpret_cast<const char*>(data), size) : std::string();
}

std::string Statement::bytes(int column) const
{
    const void* data = ::sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(statement_, column));
    return data ? std::string(static_cast<const char*>(data), size) : std::string();
}

std::optional<std::int64_t> Statement::integer_if_any(int column) const
{
    return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<std::string> Statement::text_if_any(int column) const
{
    return is_null(column) ? std::nullopt : std::optional(text(column));
}

}  // namespace ponk::db

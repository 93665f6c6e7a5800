// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"

#include "base/work_budget.hpp"
#include "db/failure.hpp"
#include "db/like_function.hpp"
#include "db/step_limit.hpp"

#include <sqlite3.h>

#include <array>
#include <utility>

namespace ponk::db {

namespace {

constexpr int busy_milliseconds = 5000;
constexpr int asked_every = 1000;  // operations of SQLite's machine

void limit(sqlite3* handle)
{
    ::sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    ::sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 100);
    ::sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 20);
    ::sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
}

}  // namespace

Result<std::unique_ptr<Connection>>
Connection::open(const Path& file, Role role, const std::string& vfs)
{
    std::unique_ptr<Connection> connection(new Connection(file));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (role == Role::writer) flags |= SQLITE_OPEN_CREATE;
    const int code = ::sqlite3_open_v2(
        file.c_str(), &connection->handle_, flags, vfs.empty() ? nullptr : vfs.c_str());
    if (code != SQLITE_OK) return tl::unexpected(connection->note_failure(code, "open"));
    TRY(connection->configure(role));
    return connection;
}

int Connection::ask_whether_to_end(void* self)
{
    auto* const limit = static_cast<Connection*>(self)->step_limit_;
    return (limit && limit->note(asked_every)) || work_is_over() ? 1 : 0;
}

void Connection::prepare_for_foreign_input()
{
    ::sqlite3_progress_handler(handle_, asked_every, &Connection::ask_whether_to_end, this);
    add_like_functions(handle_);
}

Result<> Connection::configure(Role role)
{
    prepare_for_foreign_input();
    ::sqlite3_busy_timeout(handle_, busy_milliseconds);
    constexpr std::array<std::pair<int, int>, 4> switches{{
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    }};
    for (const auto& [option, value] : switches)
        ::sqlite3_db_config(handle_, option, value, nullptr);
    if (role == Role::reader)
        ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    limit(handle_);
    TRY(execute("PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
                "PRAGMA temp_store=MEMORY;"));
    if (role == Role::reader)
        return execute(
            "PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-1024");
    auto mode = TRY(prepare("PRAGMA journal_mode=WAL"));
    if (!TRY(mode.step()) || mode.text(0) != "wal") {
        return tl::unexpected(
            Error(ErrorKind::unavailable,
                  fmt::format("database {}: its file system cannot share memory between programs",
                              os::in_quotes(file_)),
                  "Set PONK_HOME to a folder on a local disk."));
    }
    return execute("PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=1000;"
                   "PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-4096");
}

Connection::~Connection()
{
    for (auto& [sql, cached] : cache_)
        ::sqlite3_finalize(cached.statement);
    ::sqlite3_close_v2(handle_);
}

Error Connection::note_failure(int code, const std::string& doing)
{
    if (const auto work = check_work(); (code & 0xff) == SQLITE_INTERRUPT && !work)
        return work.error();
    auto error = failure(handle_, code, file_.native(), doing);
    saw_damage_ = saw_damage_ || is_damage(code);
    if (!final_ && (is_final(code) || is_damage(code))) final_ = error;
    return error;
}

Result<> Connection::execute(const std::string& sql)
{
    const int code = ::sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return tl::unexpected(note_failure(code));
    return {};
}

Result<sqlite3_stmt*> Connection::compile(std::string_view sql, unsigned flags)
{
    sqlite3_stmt* made = nullptr;
    const int code = ::sqlite3_prepare_v3(
        handle_, sql.data(), static_cast<int>(sql.size()), flags, &made, nullptr);
    if (code != SQLITE_OK) return tl::unexpected(note_failure(code));
    return made;
}

Result<Statement> Connection::prepare_once(std::string_view sql)
{
    return Statement(this, TRY(compile(sql, 0)), Statement::Owner::itself);
}

Result<Statement> Connection::prepare(std::string_view sql)
{
    const auto known = cache_.find(sql);
    if (known != cache_.end() && !known->second.in_use) {
        known->second.in_use = true;
        return Statement(this, known->second.statement, Statement::Owner::cache);
    }
    auto* made = TRY(compile(sql, SQLITE_PREPARE_PERSISTENT));
    // The same text is being stepped through already: this one lives as long as its user.
    if (known != cache_.end()) return Statement(this, made, Statement::Owner::itself);
    cache_.emplace(std::string(sql), Cached{made, true});
    return Statement(this, made, Statement::Owner::cache);
}

void Connection::give_back(sqlite3_stmt* statement)
{
    ::sqlite3_reset(statement);
    ::sqlite3_clear_bindings(statement);
    const auto known = cache_.find(std::string_view(::sqlite3_sql(statement)));
    if (known != cache_.end()) known->second.in_use = false;
}

Result<std::int64_t> Connection::query_integer(std::string_view sql)
{
    auto statement = TRY(prepare(sql));
    if (!TRY(statement.step())) return 0;
    return statement.integer(0);
}

Result<> Connection::set_durability(Durability durability)
{
    if (durability == durability_) return {};
    TRY(execute(durability == Durability::disk ? "PRAGMA synchronous=FULL"
                                               : "PRAGMA synchronous=NORMAL"));
    durability_ = durability;
    return {};
}

std::int64_t Connection::changes() const
{
    return ::sqlite3_changes64(handle_);
}

std::int64_t Connection::last_row() const
{
    return ::sqlite3_last_insert_rowid(handle_);
}

bool Connection::in_transaction() const
{
    return ::sqlite3_get_autocommit(handle_) == 0;
}

}  // namespace ponk::db

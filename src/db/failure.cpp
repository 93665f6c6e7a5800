// SPDX-License-Identifier: Apache-2.0
#include "db/failure.hpp"

#include "os/file.hpp"

#include <sqlite3.h>

#include <system_error>

namespace ponk::db {

namespace {

std::string system_reason(sqlite3* connection, int code)
{
    std::string text = ::sqlite3_errstr(code);
    const int number = connection ? ::sqlite3_system_errno(connection) : 0;
    if (number != 0) text += " (" + std::generic_category().message(number) + ")";
    return text;
}

struct Meaning {
    ErrorKind kind;
    std::string what;
    std::string hint;
};

Meaning meaning(sqlite3* connection, int code, const std::string& file)
{
    using enum ErrorKind;
    switch (code & 0xff) {
    case SQLITE_FULL:
        return {unavailable,
                "the disk is full",
                "Free space where " + file + " is and try again; what was stored before is safe."};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        return {unavailable,
                "cannot be written: " + system_reason(connection, code),
                "Check owner and permissions of the folder of " + file +
                    ", and that its file system is not mounted read-only."};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return {damaged,
                std::string("is damaged: ") + ::sqlite3_errstr(code),
                "Start again: the damaged file is then set aside and the newest backup is used."};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return {unavailable,
                "is locked by another program",
                "End the other program that has " + file + " open and try again."};
    case SQLITE_IOERR:
        return {unavailable,
                "cannot be read or written: " + system_reason(connection, code),
                "Check the disk, then start again; what was stored before is read from its log."};
    case SQLITE_CONSTRAINT:
        return {conflict, connection ? ::sqlite3_errmsg(connection) : "broken constraint", ""};
    case SQLITE_TOOBIG:
        return {invalid_argument, "a value is too large to be stored", ""};
    case SQLITE_INTERRUPT:
        return {cancelled, "interrupted", ""};
    default:
        return {internal, connection ? ::sqlite3_errmsg(connection) : ::sqlite3_errstr(code), ""};
    }
}

}  // namespace

Error failure(sqlite3* connection, int code, const std::string& file, const std::string& doing)
{
    const auto quoted = os::in_quotes(file);
    auto found = meaning(connection, code, quoted);
    auto message = fmt::format("database {}: {}", quoted, found.what);
    if (!doing.empty()) message = doing + ": " + message;
    return {found.kind, std::move(message), std::move(found.hint)};
}

bool is_final(int extended_code)
{
    if ((extended_code & 0xff) != SQLITE_IOERR) return false;
    switch (extended_code) {
    // These fail before anything is written.
    case SQLITE_IOERR_NOMEM:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMOPEN:
    case SQLITE_IOERR_SHMMAP:
    case SQLITE_IOERR_SHMLOCK:
    case SQLITE_IOERR_LOCK:
    case SQLITE_IOERR_GETTEMPPATH:
        return false;
    default:
        return true;
    }
}

bool is_damage(int extended_code)
{
    const int code = extended_code & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

}  // namespace ponk::db

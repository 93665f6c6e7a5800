// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"

#include <sqlite3.h>

#include <array>
#include <fcntl.h>
#include <sys/stat.h>

namespace ponk::db {

namespace {

constexpr int busy_milliseconds = 10'000;
constexpr std::size_t header_size = 100;
constexpr std::string_view magic{"SQLite format 3\0", 16};

struct Header {
    bool write_ahead = false;
};

Result<Header> read_header(const Path& file)
{
    const auto fd = TRY(os::open_regular(file));
    const auto bytes = TRY(os::read_at(fd.get(), 0, header_size));
    if (!bytes.starts_with(magic) || bytes.size() < header_size)
        return fail(
            ErrorKind::invalid_argument, "{} is not a SQLite database", os::in_quotes(file));
    return Header{bytes[18] == 2 || bytes[19] == 2};
}

// As a URI, in which no byte of the path means anything.
std::string uri_of(const Path& file, std::string_view options)
{
    std::string uri = "file:";
    for (const char each : file.native()) {
        const auto byte = static_cast<unsigned char>(each);
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                           (byte >= '0' && byte <= '9') || byte == '/' || byte == '-' ||
                           byte == '_' || byte == '.';
        uri += plain ? std::string(1, each) : fmt::format("%{:02X}", byte);
    }
    return uri.append("?").append(options);
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open_foreign(const Path& file)
{
    const auto header = TRY(read_header(file));
    struct stat info {};
    const bool has_log = ::stat((file.native() + "-wal").c_str(), &info) == 0;
    // To read a log SQLite shares memory through a file beside it, which whoever uses the database
    // has made. Without a log nobody does: then no file is made.
    const bool at_rest = header.write_ahead && !has_log;
    std::unique_ptr<Connection> connection(new Connection(file));
    const auto uri = uri_of(file, at_rest ? "mode=ro&immutable=1" : "mode=ro");
    const int code = ::sqlite3_open_v2(uri.c_str(),
                                       &connection->handle_,
                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
                                           SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                       nullptr);
    if (code != SQLITE_OK) return tl::unexpected(connection->note_failure(code, "open"));
    auto* const handle = connection->handle_;
    ::sqlite3_busy_timeout(handle, busy_milliseconds);
    connection->prepare_for_foreign_input();
    constexpr std::array<std::pair<int, int>, 4> switches{{
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
    }};
    for (const auto& [option, value] : switches)
        ::sqlite3_db_config(handle, option, value, nullptr);
    ::sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
    ::sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 256 << 20);
    TRY(connection->execute("PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
                            "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384"));
    return connection;
}

}  // namespace ponk::db

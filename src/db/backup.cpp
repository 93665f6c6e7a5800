// SPDX-License-Identifier: Apache-2.0
#include "db/backup.hpp"

#include "base/hash.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_budget.hpp"
#include "db/connection.hpp"
#include "db/failure.hpp"
#include "os/directory.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace ponk::db {

namespace {

struct Closer {
    void operator()(sqlite3* handle) const { ::sqlite3_close_v2(handle); }
};
using Handle = std::unique_ptr<sqlite3, Closer>;

Result<> copy_pages(Connection& source, const Path& to)
{
    sqlite3* raw = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE;
    const int opened = ::sqlite3_open_v2(to.c_str(), &raw, flags, nullptr);
    const Handle target(raw);
    const auto broken = [&](int code) {
        return tl::unexpected(failure(target.get(), code, to.native(), "copy the database"));
    };
    if (opened != SQLITE_OK) return broken(opened);
    ::sqlite3_exec(raw, "PRAGMA synchronous=FULL", nullptr, nullptr, nullptr);
    auto* backup = ::sqlite3_backup_init(raw, "main", source.handle(), "main");
    if (!backup) return broken(::sqlite3_extended_errcode(raw));
    // In one step: a copy in several begins again with every commit of another connection.
    const int copied = ::sqlite3_backup_step(backup, -1);
    const int finished = ::sqlite3_backup_finish(backup);
    if (copied != SQLITE_DONE) return broken(copied);
    if (finished != SQLITE_OK) return broken(finished);
    const int single = ::sqlite3_exec(raw, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
    if (single != SQLITE_OK) return broken(single);
    return {};
}

void remove_with_logs(const Path& file)
{
    for (const char* suffix : {"", "-journal", "-wal", "-shm"})
        ::unlink((file.native() + suffix).c_str());
}

Result<> publish(const Path& made, const Path& destination)
{
    // link, not rename: it never replaces what is there.
    if (::link(made.c_str(), destination.c_str()) != 0)
        return fail_errno(errno, "make {}", os::in_quotes(destination));
    ::unlink(made.c_str());
    return os::sync_directory(destination.parent_path());
}

constexpr std::string_view stamp_shape = "20260301T123005.123Z";

std::string stamp_text(std::int64_t time)
{
    auto stamp = utc_text(time);
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
    return stamp;
}

// When a backup says it was made; 0 when its name does not tell.
std::int64_t time_of(const Path& backup)
{
    auto text = backup.stem().string();
    if (text.size() < stamp_shape.size()) return 0;
    text = text.substr(text.size() - stamp_shape.size());
    for (const std::size_t at : {4U, 7U})
        text.insert(at, 1, '-');
    for (const std::size_t at : {13U, 16U})
        text.insert(at, 1, ':');
    return parse_utc(text).value_or(0);
}

Result<> collect_findings(Connection& connection, std::string_view pragma)
{
    auto statement = TRY(connection.prepare(pragma));
    std::vector<std::string> findings;
    while (TRY(statement.step())) {
        auto text = statement.text(0);
        if (text != "ok") findings.push_back(std::move(text));
    }
    if (findings.empty()) return {};
    (void)connection.note_failure(SQLITE_CORRUPT);
    return tl::unexpected(Error(
        ErrorKind::damaged,
        fmt::format(
            "database {} is damaged: {}", os::in_quotes(connection.file()), join(findings, "; ")),
        "Start again: the damaged file is then set aside and the newest backup is used."));
}

}  // namespace

Result<> copy_database(Connection& source, const Path& destination)
{
    const auto folder = destination.has_parent_path() ? destination.parent_path() : Path(".");
    const auto made = folder / (".copy-" + to_hex(random_bytes(8)));
    auto result = copy_pages(source, made);
    if (result) result = publish(made, folder / destination.filename());
    remove_with_logs(made);
    return result;
}

namespace {

Result<Checked>
check_until(Connection& connection, std::string_view pragma, std::chrono::milliseconds at_most)
{
    const WorkBudget budget(WorkBudget::Clock::now() + at_most);
    const WorkScope scope(&budget);
    const auto result = collect_findings(connection, pragma);
    if (result) return Checked::entirely;
    if (result.error().kind() == ErrorKind::timeout) return Checked::in_part;
    return tl::unexpected(result.error());
}

}  // namespace

Result<Checked> quick_check(Connection& connection, std::chrono::milliseconds at_most)
{
    return check_until(connection, "PRAGMA quick_check(5)", at_most);
}

Result<Checked> thorough_check(Connection& connection, std::chrono::milliseconds at_most)
{
    return check_until(connection, "PRAGMA integrity_check(5)", at_most);
}

Result<> integrity_check(Connection& connection)
{
    TRY(collect_findings(connection, "PRAGMA integrity_check(5)"));
    auto keys = TRY(connection.prepare("PRAGMA foreign_key_check"));
    if (!TRY(keys.step())) return {};
    return fail(ErrorKind::damaged,
                "database {}: table '{}' refers to missing rows",
                os::in_quotes(connection.file()),
                keys.text(0));
}

Result<Path> BackupFolder::add(Connection& source) const
{
    TRY(os::make_directories(folder_));
    // Names tell the order, also when the clock was set back since the last one was made.
    auto time = wall_milliseconds();
    if (const auto known = TRY(list()); !known.empty())
        time = std::max(time, time_of(known.front()) + 1);
    auto file = folder_ / (name_ + "-" + stamp_text(time) + ".db");
    TRY(copy_database(source, file));
    return file;
}

Result<std::vector<Path>> BackupFolder::list() const
{
    std::error_code problem;
    if (!std::filesystem::exists(folder_, problem)) return std::vector<Path>();
    std::vector<Path> files;
    for (const auto& entry : TRY(os::list_directory(folder_))) {
        if (entry.name.starts_with(name_ + "-") && entry.name.ends_with(".db"))
            files.push_back(folder_ / entry.name);
    }
    std::reverse(files.begin(), files.end());
    return files;
}

Result<> BackupFolder::keep_newest(std::size_t count) const
{
    const auto files = TRY(list());
    for (std::size_t i = count; i < files.size(); ++i)
        remove_with_logs(files[i]);
    return {};
}

}  // namespace ponk::db

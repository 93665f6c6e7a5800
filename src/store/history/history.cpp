// SPDX-License-Identifier: Apache-2.0
#include "store/history/history.hpp"

#include "base/text.hpp"
#include "base/time.hpp"
#include "base/work_budget.hpp"
#include "store/history/history_access.hpp"
#include "store/history/history_impl.hpp"
#include "store/points/point_conversion.hpp"
#include "store/points/point_tail.hpp"
#include "store/rows/run_row.hpp"
#include "store/schema/schema.hpp"

#include <sys/stat.h>

namespace ponk::store {

namespace {

constexpr std::size_t backups_kept = 3;
constexpr const char* checked_setting = "integrity_checked";

Opening::Outcome outcome_of(db::Database::Outcome outcome)
{
    switch (outcome) {
    case db::Database::Outcome::opened:
        return Opening::Outcome::opened;
    case db::Database::Outcome::created:
        return Opening::Outcome::created;
    case db::Database::Outcome::restored:
        return Opening::Outcome::restored;
    case db::Database::Outcome::emptied:
        break;
    }
    return Opening::Outcome::emptied;
}

Result<> read_every_run(db::Connection& connection)
{
    auto runs = TRY(connection.prepare(select_runs));
    while (TRY(runs.step()))
        TRY(read_run(connection, runs));
    return {};
}

std::uint64_t size_of(const std::string& path)
{
    // stat, never open: closing a descriptor of the file would drop SQLite's locks on it.
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

}  // namespace

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::~History() = default;

Sync History::sync() const noexcept
{
    return impl_->database->sync() == db::Sync::full ? Sync::full : Sync::normal;
}

Result<std::unique_ptr<History>> History::open(const Path& folder, Sync sync)
{
    auto database =
        TRY(db::Database::open({.folder = folder,
                                .name = "history",
                                .schema = history_schema(),
                                .sync = sync == Sync::full ? db::Sync::full : db::Sync::normal,
                                .verify = read_every_run}));
    auto impl = std::make_unique<Impl>();
    const auto& seen = database->opening();
    impl->opening = {outcome_of(seen.outcome),
                     seen.clean_stop,
                     seen.notice,
                     seen.set_aside,
                     seen.checked_in_part,
                     wall_milliseconds()};
    impl->database = std::move(database);
    TRY(convert_old_points(*impl->database));
    TRY(impl->database->read(
        [&impl](db::Connection& reader) { return note_tails(reader, impl->uncompacted); }));
    return std::unique_ptr<History>(new History(std::move(impl)));
}

db::Database& HistoryAccess::database(const History& history)
{
    return *history.impl_->database;
}

std::uint64_t HistoryAccess::uncompacted_bytes(const History& history)
{
    return history.impl_->uncompacted.bytes();
}

TailReader HistoryAccess::tail_reader(const History& history)
{
    return TailReader(history.impl_->uncompacted);
}

const Opening& History::opening() const noexcept
{
    return impl_->opening;
}

std::optional<Error> History::failure() const
{
    return impl_->database->failure();
}

bool History::saw_damage() const noexcept
{
    return impl_->database->saw_damage();
}

Result<std::optional<std::string>> History::find_setting(const std::string& name) const
{
    return impl_->database->read([&](db::Connection& reader) -> Result<std::optional<std::string>> {
        auto statement = TRY(reader.prepare("SELECT value FROM setting WHERE name = ?"));
        statement.bind(name);
        if (!TRY(statement.step())) return std::optional<std::string>();
        return std::optional(statement.text(0));
    });
}

Result<> History::put_setting(const std::string& name, const std::string& value)
{
    return impl_->database->write(db::Durability::disk, [&](db::Connection& writer) -> Result<> {
        auto statement =
            TRY(writer.prepare("INSERT OR REPLACE INTO setting(name, value) VALUES(?, ?)"));
        return statement.bind(name, value).run();
    });
}

Result<Path> History::make_backup()
{
    return impl_->database->make_backup(backups_kept);
}

Result<> History::backup_to(const Path& destination) const
{
    return impl_->database->read(
        [&](db::Connection& reader) { return db::copy_database(reader, destination); });
}

Result<> History::check_integrity()
{
    const WorkScope whole(nullptr);  // half of a check says nothing
    TRY(impl_->database->read([](db::Connection& reader) { return db::integrity_check(reader); }));
    return put_setting(checked_setting, fmt::format("{}", wall_milliseconds()));
}

Result<std::int64_t> History::last_integrity_check() const
{
    const auto text = TRY(find_setting(checked_setting));
    return text ? parse_integer(*text).value_or(0) : 0;
}

Sizes History::sizes() const
{
    const auto& file = impl_->database->file().native();
    return {size_of(file), size_of(file + "-wal")};
}

}  // namespace ponk::store

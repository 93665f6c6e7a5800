// SPDX-License-Identifier: Apache-2.0
#include "db/database.hpp"

#include <sys/stat.h>

namespace ponk::db {

namespace {

constexpr std::size_t idle_readers = 4;

std::optional<std::uint64_t> size_of(const Path& file)
{
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(info.st_size);
}

}  // namespace

Database::Database(Plan plan, Ownership ownership)
    : plan_(std::move(plan)), file_(plan_.folder / (plan_.name + ".db")),
      backups_(plan_.folder / "backups", plan_.name), ownership_(std::move(ownership))
{
}

Result<std::unique_ptr<Database>> Database::open(Plan plan)
{
    TRY(os::make_directories(plan.folder));
    auto ownership = TRY(Ownership::take(plan.folder / (plan.name + ".lock")));
    std::unique_ptr<Database> database(new Database(std::move(plan), std::move(ownership)));
    TRY(database->open_or_recover());
    return database;
}

Database::~Database()
{
    idle_readers_.lock()->clear();
    const bool damaged = !writer_ || writer_->final_failure() || reader_saw_damage_;
    writer_.reset();
    // Left as it is, the mark makes the next owner look for damage.
    if (!damaged) ownership_.close_clean();
}

Result<FileState> Database::open_sound(std::chrono::milliseconds check_at_most)
{
    writer_ = TRY(Connection::open(file_, Role::writer, plan_.vfs));
    auto& writer = *writer_;
    if (check_at_most.count() > 0) {
        if (TRY(quick_check(writer, check_at_most)) == Checked::in_part)
            opening_.notice = "the database was not closed and is too large to check at once; "
                              "'ponk doctor' checks all of it";
    }
    return migrate(writer, plan_.schema, [this, &writer](int /*version*/) -> Result<> {
        TRY(backups_.add(writer).map_error(while_doing("make a backup before the upgrade")));
        return {};
    });
}

Result<> Database::open_or_recover()
{
    opening_.clean_stop = ownership_.was_clean();
    const bool has_backup = !TRY(backups_.list()).empty();
    if (is_orphaned_log(file_))
        return recover(Error(ErrorKind::damaged, "its write-ahead log is there without it"));
    if (size_of(file_) == 0 && has_backup)
        return recover(Error(ErrorKind::damaged, "the file is empty"));
    const auto check = opening_.clean_stop ? std::chrono::milliseconds(0) : plan_.check_at_most;
    const auto state = open_sound(check);
    if (!state && state.error().kind() == ErrorKind::damaged) return recover(state.error());
    if (!state) return tl::unexpected(state.error());
    if (*state == FileState::created) opening_.outcome = Outcome::created;
    if (*state == FileState::created && has_backup)
        opening_.notice = fmt::format("made a new database; older ones are in {}",
                                      os::in_quotes(plan_.folder / "backups"));
    return {};
}

Result<> Database::recover(const Error& damage)
{
    writer_.reset();
    opening_.set_aside = TRY(set_aside(file_));
    const auto kept = fmt::format("{} was damaged ({}) and is kept as {}",
                                  os::in_quotes(file_),
                                  damage.message(),
                                  os::in_quotes(opening_.set_aside));
    for (const auto& backup : TRY(backups_.list())) {
        TRY(put_back(backup, file_));
        const auto state = open_sound(std::chrono::hours(1));
        if (state) {
            opening_.outcome = Outcome::restored;
            opening_.notice = fmt::format("{}; the backup {} is used, and runs since then are read "
                                          "from their directories",
                                          kept,
                                          os::in_quotes(backup));
            return {};
        }
        writer_.reset();
        if (state.error().kind() != ErrorKind::damaged) return tl::unexpected(state.error());
        TRY(os::remove_tree(file_));
        for (const char* suffix : {"-wal", "-shm"})
            TRY(os::remove_tree(file_.native() + suffix));
    }
    TRY(open_sound(std::chrono::milliseconds(0)));
    opening_.outcome = Outcome::emptied;
    opening_.notice = kept + "; there is no sound backup, so runs are read from their directories";
    return {};
}

std::optional<Error> Database::failure() const
{
    const std::lock_guard lock(writing_);
    return writer_->final_failure();
}

Result<Database::Writing> Database::begin_write(Durability durability)
{
    std::unique_lock lock(writing_);
    if (const auto& failed = writer_->final_failure()) {
        return tl::unexpected(Error(
            failed->kind(), "nothing more is written since: " + failed->message(), failed->hint()));
    }
    TRY(writer_->set_durability(durability));
    auto transaction = TRY(Transaction::begin(*writer_));
    return Writing{std::move(lock), writer_.get(), std::move(transaction)};
}

Result<Database::Reader> Database::take_reader() const
{
    {
        auto idle = idle_readers_.lock();
        if (!idle->empty()) {
            Reader reader(idle->back().release(), GiveBack{this});
            idle->pop_back();
            return reader;
        }
    }
    auto made = TRY(Connection::open(file_, Role::reader, plan_.vfs));
    return Reader(made.release(), GiveBack{this});
}

void Database::give_back(Connection* reader) const
{
    std::unique_ptr<Connection> owned(reader);
    if (owned->final_failure()) {
        if (owned->saw_damage()) reader_saw_damage_ = true;
        return;
    }
    auto idle = idle_readers_.lock();
    if (idle->size() < idle_readers) idle->push_back(std::move(owned));
}

Result<Path> Database::make_backup(std::size_t keep) const
{
    auto made = TRY(read([this](Connection& reader) { return backups_.add(reader); }));
    TRY(backups_.keep_newest(keep));
    return made;
}

}  // namespace ponk::db

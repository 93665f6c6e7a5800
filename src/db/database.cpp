// SPDX-License-Identifier: Apache-2.0
#include "db/database.hpp"

#include <sys/stat.h>

namespace ponk::db {

namespace {

constexpr std::size_t idle_readers = 4;

}  // namespace

Database::Database(Plan plan, Ownership ownership)
    : plan_(std::move(plan)), file_(plan_.folder / (plan_.name + ".db")),
      backups_(plan_.folder / "backups", plan_.name), ownership_(std::move(ownership)),
      writes_([this](std::span<WriteJob* const> jobs) { run_jobs(jobs); })
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
    writes_.finish();
    idle_readers_.lock()->clear();
    if (writer_ && writer_->saw_damage()) note_damage(*writer_->final_failure());
    const bool failed = !writer_ || writer_->final_failure() || saw_damage_;
    writer_.reset();
    // Left as it is, the mark makes the next owner look for damage.
    if (!failed) ownership_.close_clean(stamp_of(file_));
}

void Database::note_damage(const Error& error) const
{
    if (error.kind() != ErrorKind::damaged) return;
    auto damage = damage_.lock();
    if (*damage) return;
    *damage = error;
    saw_damage_ = true;
    ownership_.note_damage();
}

Result<FileState> Database::open_sound(Check check, std::chrono::milliseconds at_most)
{
    writer_ = TRY(Connection::open(file_, Role::writer, plan_.vfs));
    auto& writer = *writer_;
    if (check != Check::none) {
        const auto checked = TRY(check == Check::quick ? quick_check(writer, at_most)
                                                       : thorough_check(writer, at_most));
        if (checked == Checked::in_part) {
            opening_.checked_in_part = true;
            opening_.notice = "the database was not closed and is too large to check at once; "
                              "'ponk doctor --full' checks all of it";
        }
    }
    const auto state =
        TRY(migrate(writer, plan_.schema, [this, &writer](int /*version*/) -> Result<> {
            TRY(backups_.add(writer).map_error(while_doing("create a backup before the upgrade")));
            return {};
        }));
    if (check == Check::thorough && plan_.verify) TRY(plan_.verify(writer));
    return state;
}

std::optional<Error> Database::find_obvious_damage() const
{
    const auto damaged = [](std::string what) {
        return Error(ErrorKind::damaged, std::move(what));
    };
    struct stat info {};
    const bool there = ::stat(file_.c_str(), &info) == 0;
    if (there && !S_ISREG(info.st_mode)) return damaged("it is not a file");
    if (is_orphaned_log(file_)) return damaged("it is missing, but its write-ahead log exists");
    if (ownership_.left() == Ownership::Left::damaged)
        return damaged("damage was found while it was in use");
    const bool had_data = !ownership_.stamp().empty() && ownership_.stamp() != "none";
    const auto backups = backups_.list();
    const bool wanted = had_data || (backups && !backups->empty());
    if (wanted && !there) return damaged("the file is missing");
    if (wanted && info.st_size == 0) return damaged("the file is empty");
    return std::nullopt;
}

Database::Check Database::check_wanted() const
{
    if (!opening_.clean_stop) return Check::quick;
    // Nobody but us has business with it: whoever wrote there may have spoilt an index, too.
    if (ownership_.stamp() != stamp_of(file_) && !ownership_.stamp().empty())
        return Check::thorough;
    return Check::none;
}

Result<> Database::open_or_recover()
{
    opening_.clean_stop = ownership_.left() == Ownership::Left::clean;
    if (const auto log = TRY(set_foreign_log_aside(file_)); !log.empty())
        opening_.notice =
            fmt::format("{} was replaced by a copy: the log of the earlier database is kept as {}",
                        os::in_quotes(file_),
                        os::in_quotes(log));
    if (const auto damage = find_obvious_damage()) return recover(*damage);
    const auto state = open_sound(check_wanted(), plan_.check_at_most);
    if (!state && state.error().kind() == ErrorKind::damaged) return recover(state.error());
    if (!state) return tl::unexpected(state.error());
    if (*state == FileState::created) opening_.outcome = Outcome::created;
    return {};
}

Result<> Database::recover(const Error& damage)
{
    writer_.reset();
    opening_.set_aside = TRY(set_aside(file_));
    const auto kept =
        fmt::format("{} was damaged ({}) and {}",
                    os::in_quotes(file_),
                    damage.message(),
                    opening_.set_aside.empty() ? "there was nothing to keep"
                                               : "is kept as " + os::in_quotes(opening_.set_aside));
    for (const auto& backup : TRY(backups_.list())) {
        TRY(put_back(backup, file_));
        const auto state = open_sound(Check::thorough, std::chrono::hours(1));
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
    TRY(open_sound(Check::none, {}));
    opening_.outcome = Outcome::emptied;
    opening_.notice = kept + "; there is no intact backup, so runs are read from their directories";
    return {};
}

std::optional<Error> Database::failure() const
{
    if (saw_damage_) return *damage_.lock();
    return *failure_.lock();
}

Result<> Database::run_job(WriteJob& job)
{
    writes_.submit(job);
    if (!job.outcome) note_damage(job.outcome.error());
    return std::move(job.outcome);
}

void Database::write_later(WriteJob job)
{
    job.done = [this, done = std::move(job.done)](Result<> outcome) {
        if (!outcome) note_damage(outcome.error());
        done(std::move(outcome));
    };
    writes_.submit_later(std::make_unique<WriteJob>(std::move(job)));
}

void Database::run_jobs(std::span<WriteJob* const> jobs)
{
    const std::lock_guard lock(writing_);
    const auto failed = saw_damage_ ? *damage_.lock() : writer_->final_failure();
    if (!failed) {
        if (plan_.sync == Sync::normal) {
            for (auto* job : jobs)
                job->durability = Durability::process;
        }
        run_together(*writer_, jobs);
        if (writer_->final_failure()) *failure_.lock() = writer_->final_failure();
        return;
    }
    const Error refusal(
        failed->kind(), "nothing more is written since: " + failed->message(), failed->hint());
    for (auto* job : jobs)
        job->outcome = tl::unexpected(refusal);
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
    auto made = Connection::open(file_, Role::reader, plan_.vfs);
    if (!made) {
        note_damage(made.error());
        return tl::unexpected(made.error());
    }
    return Reader(made->release(), GiveBack{this});
}

void Database::give_back(Connection* reader) const
{
    std::unique_ptr<Connection> owned(reader);
    if (owned->saw_damage()) note_damage(*owned->final_failure());
    if (owned->final_failure()) return;
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"
#include "db/backup.hpp"
#include "db/connection.hpp"
#include "db/migration.hpp"
#include "db/recovery.hpp"
#include "db/transaction.hpp"
#include "db/write_group.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace ponk::db {

// A database file with one writer, shared by all threads, and as many readers as are needed.
//
// Safe to call from any thread. Writes that come at the same time share a transaction and a commit
// and may run on the thread of any of their callers, one after the other; work inside must not call
// back into the same database, nor take a lock that somebody may hold who writes.
class Database {
public:
    struct Plan {
        Path folder;       // made when absent
        std::string name;  // "history" for history.db, history.lock and backups/history-….db
        Schema schema;
        std::chrono::milliseconds check_at_most{2000};  // after a kill, or when others wrote to it
        std::string vfs;                                // see Connection::open
        Sync sync = Sync::full;
        // Reads all rows the way their users do; `damaged` for what SQLite cannot see. Asked of
        // backups, and of a file that others wrote to.
        std::function<Result<>(Connection&)> verify;
    };

    enum class Outcome { opened, created, restored, emptied };
    struct Opening {
        Outcome outcome = Outcome::opened;
        bool clean_stop = true;
        std::string notice;
        Path set_aside;
        bool checked_in_part = false;  // it was not closed, and time did not suffice for all of it
    };

    // See History::open for what it does about damage.
    static Result<std::unique_ptr<Database>> open(Plan plan);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    [[nodiscard]] const Opening& opening() const noexcept { return opening_; }
    [[nodiscard]] const Path& file() const noexcept { return file_; }
    [[nodiscard]] Sync sync() const noexcept { return plan_.sync; }
    // Set when nothing more is written after an I/O error or damage.
    [[nodiscard]] std::optional<Error> failure() const;
    // Set once a read or write met damage. Opening it again sets the file aside.
    [[nodiscard]] bool saw_damage() const noexcept { return saw_damage_; }

    // Runs `work(Connection&)`, which returns a Result, and commits when it succeeds. When it
    // fails nothing of it is stored.
    template <class Work>
    std::invoke_result_t<Work, Connection&> write(Durability durability, Work&& work)
    {
        std::optional<std::invoke_result_t<Work, Connection&>> result;
        WriteJob job{durability, [&](Connection& writer) -> Result<> {
                         result.emplace(work(writer));
                         if (!*result) return tl::unexpected(result->error());
                         return {};
                     }};
        TRY(run_job(job));
        return *std::move(result);
    }

    // The same as `write` without waiting: `job.done` gets the outcome, on some other thread.
    void write_later(WriteJob job);

    // Runs `work(Connection&)` on a reader's connection; all it reads is of one moment.
    template <class Work>
    std::invoke_result_t<Work, Connection&> read(Work&& work) const
    {
        const auto reader = TRY(take_reader());
        const auto transaction = TRY(Transaction::begin(*reader, Transaction::Kind::read));
        auto result = work(*reader);
        if (!result) note_damage(result.error());
        return result;
    }

    Result<Path> make_backup(std::size_t keep) const;

private:
    // Goes back to the idle readers when done.
    struct GiveBack {
        const Database* database;
        void operator()(Connection* reader) const { database->give_back(reader); }
    };
    using Reader = std::unique_ptr<Connection, GiveBack>;

    Database(Plan plan, Ownership ownership);
    enum class Check { none, quick, thorough };
    Result<FileState> open_sound(Check check, std::chrono::milliseconds at_most);
    [[nodiscard]] std::optional<Error> find_obvious_damage() const;
    [[nodiscard]] Check check_wanted() const;
    void note_damage(const Error& error) const;
    Result<> open_or_recover();
    Result<> recover(const Error& damage);
    Result<> run_job(WriteJob& job);
    void run_jobs(std::span<WriteJob* const> jobs);
    Result<Reader> take_reader() const;
    void give_back(Connection* reader) const;

    Plan plan_;
    Path file_;
    BackupFolder backups_;
    Opening opening_;
    Ownership ownership_;  // released after every connection is closed
    mutable std::mutex writing_;
    std::unique_ptr<Connection> writer_;  // guarded by writing_
    WriteGroup writes_;
    mutable Synced<std::vector<std::unique_ptr<Connection>>> idle_readers_;
    mutable std::atomic<bool> saw_damage_ = false;
    mutable Synced<std::optional<Error>> damage_;   // as the first reader told it
    mutable Synced<std::optional<Error>> failure_;  // of the writer, for those who must not wait
};

}  // namespace ponk::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "base/synced.hpp"
#include "db/backup.hpp"
#include "db/connection.hpp"
#include "db/migration.hpp"
#include "db/recovery.hpp"
#include "db/transaction.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace ponk::db {

// A database file with one writer, shared by all threads, and as many readers as are needed.
//
// Safe to call from any thread. A write holds the one lock for as long as its transaction lasts,
// on the caller's thread; work inside must not call back into the same database.
class Database {
public:
    struct Plan {
        Path folder;       // made when absent
        std::string name;  // "history" for history.db, history.lock and backups/history-….db
        Schema schema;
        std::chrono::milliseconds check_at_most{2000};  // after an unclean stop
        std::string vfs;                                // see Connection::open
    };

    enum class Outcome { opened, created, restored, emptied };
    struct Opening {
        Outcome outcome = Outcome::opened;
        bool clean_stop = true;
        std::string notice;
        Path set_aside;
    };

    // See History::open for what it does about damage.
    static Result<std::unique_ptr<Database>> open(Plan plan);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    [[nodiscard]] const Opening& opening() const noexcept { return opening_; }
    [[nodiscard]] const Path& file() const noexcept { return file_; }
    // Set when nothing more is written after an I/O error or damage.
    [[nodiscard]] std::optional<Error> failure() const;

    // Runs `work(Connection&)`, which returns a Result, in a transaction of its own; commits when
    // it succeeds.
    template <class Work>
    std::invoke_result_t<Work, Connection&> write(Durability durability, Work&& work)
    {
        auto writing = TRY(begin_write(durability));
        auto result = work(*writing.connection);
        if (result) TRY(writing.transaction.commit());
        return result;
    }

    // Runs `work(Connection&)` on a reader's connection; all it reads is of one moment.
    template <class Work>
    std::invoke_result_t<Work, Connection&> read(Work&& work) const
    {
        const auto reader = TRY(take_reader());
        const auto transaction = TRY(Transaction::begin(*reader, Transaction::Kind::read));
        return work(*reader);
    }

    Result<Path> make_backup(std::size_t keep) const;

private:
    struct Writing {
        std::unique_lock<std::mutex> lock;
        Connection* connection;
        Transaction transaction;
    };
    // Goes back to the idle readers when done.
    struct GiveBack {
        const Database* database;
        void operator()(Connection* reader) const { database->give_back(reader); }
    };
    using Reader = std::unique_ptr<Connection, GiveBack>;

    Database(Plan plan, Ownership ownership);
    Result<FileState> open_sound(std::chrono::milliseconds check_at_most);
    Result<> open_or_recover();
    Result<> recover(const Error& damage);
    Result<Writing> begin_write(Durability durability);
    Result<Reader> take_reader() const;
    void give_back(Connection* reader) const;

    Plan plan_;
    Path file_;
    BackupFolder backups_;
    Opening opening_;
    Ownership ownership_;  // released after every connection is closed
    mutable std::mutex writing_;
    std::unique_ptr<Connection> writer_;  // guarded by writing_
    mutable Synced<std::vector<std::unique_ptr<Connection>>> idle_readers_;
    mutable std::atomic<bool> reader_saw_damage_ = false;
};

}  // namespace ponk::db

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "db/statement.hpp"
#include "os/file.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;

namespace ponk::db {

using os::Path;

enum class Role {
    writer,  // does every commit and every checkpoint of the file; there is one
    reader,  // cannot write, never checkpoints
};

// When a commit counts as done.
enum class Durability {
    disk,     // it has reached the disk
    process,  // it outlives this process; a power cut may take it back as long as no commit of
              // `disk` came after it
};

// What `Durability::disk` means for a database.
enum class Sync {
    full,    // what it says
    normal,  // as `process`: a power cut may take the last moments back, and damages nothing
};

class StepLimit;

// One open database file, with the settings every connection of ours has. One thread at a time.
//
// Statements end early, with the budget's own error, when the work of their thread is over (see
// base/work_budget.hpp). The connection can be used again at once.
class Connection {
public:
    // `vfs` names another file layer of SQLite; for tests of failing disks.
    static Result<std::unique_ptr<Connection>>
    open(const Path& file, Role role, const std::string& vfs = {});
    // Somebody else's database, which another program may have open: it is never written to, and
    // nothing in it is trusted. `invalid_argument` when it is not a database.
    static Result<std::unique_ptr<Connection>> open_foreign(const Path& file);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Runs one or several statements, whose rows are dropped. For schema and settings.
    Result<> execute(const std::string& sql);
    // Each text is prepared once and kept; the statement returned is reset and unbound.
    Result<Statement> prepare(std::string_view sql);
    // For texts that hardly come again: not kept.
    Result<Statement> prepare_once(std::string_view sql);
    Result<std::int64_t> query_integer(std::string_view sql);
    Result<> set_durability(Durability durability);

    [[nodiscard]] std::int64_t changes() const;
    [[nodiscard]] std::int64_t last_row() const;
    [[nodiscard]] bool in_transaction() const;
    [[nodiscard]] const Path& file() const noexcept { return file_; }
    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }

    // The first error after which the disk's content is not known, or that showed damage.
    [[nodiscard]] const std::optional<Error>& final_failure() const noexcept { return final_; }
    [[nodiscard]] bool saw_damage() const noexcept { return saw_damage_; }
    // Makes the error for `code` and remembers it when it is final.
    Error note_failure(int code, const std::string& doing = {});

private:
    friend class Statement;
    friend class StepLimit;
    explicit Connection(Path file) : file_(std::move(file)) {}
    Result<> configure(Role role);
    // Settings that ours and others' databases have in common.
    void prepare_for_foreign_input();
    static int ask_whether_to_end(void* self);
    void give_back(sqlite3_stmt* statement);
    Result<sqlite3_stmt*> compile(std::string_view sql, unsigned flags);

    struct Cached {
        sqlite3_stmt* statement = nullptr;
        bool in_use = false;
    };

    Path file_;
    sqlite3* handle_ = nullptr;
    Durability durability_ = Durability::disk;
    std::map<std::string, Cached, std::less<>> cache_;
    StepLimit* step_limit_ = nullptr;
    std::optional<Error> final_;
    bool saw_damage_ = false;
};

}  // namespace ponk::db

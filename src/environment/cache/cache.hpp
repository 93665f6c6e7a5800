// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.hpp"
#include "environment/cache/record.hpp"
#include "environment/spec/lock.hpp"
#include "os/file_lock.hpp"

#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::environment {

// One environment of the cache, as lists show it.
struct Entry {
    Record record;
    std::int64_t last_used = 0;  // wall-clock milliseconds
    bool in_use = false;
};

// What a garbage collection goes by. Zero means no limit.
struct GarbageRules {
    std::chrono::hours largest_age{0};  // since the last use
    std::uint64_t largest_size = 0;     // of all together (of that form)
    std::optional<Form> form;           // only those of this form
    std::set<std::string> keep;         // ids that are in use, beside those that are locked
    // Containers that ended but keep an image's layers: such a one does not help against too much.
    std::function<Result<std::vector<std::string>>(const Record& record)> holders;
};

struct Removal {
    std::int64_t freed = 0;            // 0 while something else has the bytes
    std::vector<std::string> held_by;  // containers that ended
};

struct GarbageResult {
    std::vector<Entry> removed;
    std::int64_t freed = 0;
    std::vector<std::string> problems;  // what could not be removed, and why
};

// The environments below $PONK_HOME/envs. Any number of processes may use it: each environment has
// a lock file, held shared by whoever uses it and alone by whoever builds or removes it. Safe for
// use from several threads.
class Cache {
public:
    explicit Cache(Path home);

    // Removes what a record stands for outside of the cache's folder: an image. Called before the
    // record goes. Returns the containers that keep its layers all the same.
    using RemoveImage = std::function<Result<std::vector<std::string>>(const Record& record)>;

    [[nodiscard]] Path folder(const std::string& id) const;
    // nullopt when it is not there, or not finished.
    [[nodiscard]] Result<std::optional<Record>> find(const std::string& id) const;
    // By id, key or the beginning of one; fails when none or several match.
    [[nodiscard]] Result<Record> get(std::string_view name) const;
    [[nodiscard]] Result<Lock> lock_of(const std::string& id) const;
    [[nodiscard]] Result<std::vector<Entry>> list() const;

    // Held while it is used. The lock belongs to the descriptor: a process that inherits it keeps
    // the environment after we are gone.
    Result<os::FileLock> lock_for_use(const std::string& id, std::stop_token stop) const;
    // The same for who must not wait: nullopt while somebody builds or removes it.
    [[nodiscard]] Result<std::optional<os::FileLock>> try_lock_for_use(const std::string& id) const;
    // Waits for whoever builds, uses or removes it; `waiting` is called once when it must wait.
    Result<os::FileLock> lock_for_change(const std::string& id,
                                         Deadline deadline,
                                         const std::function<void()>& waiting,
                                         std::stop_token stop) const;

    // With lock_for_change held: an empty folder, whatever a killed build left there.
    Result<Path> begin(const std::string& id) const;
    // The last step of a build: from here on it is ready.
    Result<> publish(const Record& record, const Lock& lock) const;
    Result<> abandon(const std::string& id) const;
    Result<> note_use(const std::string& id) const;

    // `conflict` while it is in use.
    Result<Removal> remove(const Record& record, const RemoveImage& remove_image) const;
    Result<GarbageResult> collect_garbage(const GarbageRules& rules,
                                          const RemoveImage& remove_image) const;

    // What the project's last run on that target had: canonical spec, or nullopt.
    [[nodiscard]] std::optional<Json> last_spec(const std::string& project,
                                                const std::string& target) const;
    Result<>
    note_spec(const std::string& project, const std::string& target, const Json& spec) const;

private:
    [[nodiscard]] Path lock_path(const std::string& id) const;
    [[nodiscard]] Path project_path(const std::string& project, const std::string& target) const;
    [[nodiscard]] Result<std::vector<std::string>> ids() const;
    void remove_unfinished() const;

    Path root_;
};

// Bytes that a tree takes on disk; files that are linked several times count once.
Result<std::int64_t> size_on_disk(const Path& folder);

}  // namespace ponk::environment

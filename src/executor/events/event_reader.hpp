// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "executor/events/event_files.hpp"
#include "executor/events/event_places.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace ponk::executor {

// Brings the numbers of a run's TensorBoard event files into its metric journal, on the machine of
// the run. How far each file was read is in the same records as the numbers, so whoever goes on
// after a kill neither loses nor repeats one. Any thread may call.
class EventReader {
public:
    explicit EventReader(RunDirectory directory);

    // `busy`: another process reads them; `failed`: the journal cannot be written now.
    enum class Progress { done, more, busy, failed };
    // Reads a bounded part of what is new.
    Progress read_some();
    // Whether the last step found any event files.
    [[nodiscard]] bool has_files() const noexcept { return has_files_; }

private:
    class Reading;
    Result<> read_file(EventJournal& journal, const EventFile& file, std::uint64_t& budget);
    [[nodiscard]] bool was_before(const std::string& path, const std::string& head) const;

    std::mutex mutex_;
    RunDirectory directory_;
    EventFolders folders_;
    EventPlaces places_;
    std::atomic<bool> has_files_{false};
};

// The readers of all runs that an executor follows. Any thread may call.
class EventReaders {
public:
    // To be called with each status of a run: reads what is new when it is time, and when the run
    // is over all that is left. Sets the length of the journals again.
    Result<> follow(const RunDirectory& directory, JobStatus& status, const std::stop_token& stop);
    // When to call `follow` again although nothing else happens.
    [[nodiscard]] Deadline due(const RunDirectory& directory) const;
    // All that is there and was not read. False: there is more than can be read.
    static Result<bool> read_all(const RunDirectory& directory, const std::stop_token& stop);

private:
    struct Follower {
        explicit Follower(const RunDirectory& directory) : reader(directory) {}
        EventReader reader;
        std::atomic<Deadline> next{Deadline{}};
    };
    mutable Synced<std::map<std::string, std::shared_ptr<Follower>>> followers_;
};

}  // namespace ponk::executor

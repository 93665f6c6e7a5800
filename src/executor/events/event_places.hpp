// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "executor/job/job.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ponk::executor {

// How far an event file was read.
struct EventPlace {
    std::string path;          // relative to the working copy
    std::uint64_t inode = 0;   // it may get another name
    std::string head;          // executor/events/event_files.hpp
    std::uint64_t next = 0;    // where the next event begins
    std::uint64_t skip = 0;    // numbers of that event which were read
    std::uint64_t others = 0;  // values that were no numbers
    std::string damage;        // why it is not read any further
};

Json to_json(const EventPlace& place);

// The places of all event files of a run, as its journal holds them.
struct EventPlaces {
    std::vector<EventPlace> list;
    std::uint64_t length = 0;  // of the journal when they were read from it, or written to it

    // The same file under the same name, else under another one.
    EventPlace* find(const std::string& path, std::uint64_t inode, const std::string& head);
    void set(const EventPlace& place);
};

// The metric journal of event files, `tensorboard.journal`; one process at a time writes to it.
class EventJournal {
public:
    // nullopt when another process has it.
    static Result<std::optional<EventJournal>> open(const RunDirectory& directory);

    [[nodiscard]] Result<std::uint64_t> length() const;
    // From its first byte on; damaged records count as not there.
    [[nodiscard]] Result<EventPlaces> read_places() const;
    // One record: all of it is there, or nothing.
    Result<> write(const Json& payload, EventPlaces& places);

private:
    explicit EventJournal(os::Fd file) : file_(std::move(file)) {}
    os::Fd file_;
};

// Metrics from folders that were found without being named: which ones, for people.
std::optional<std::string> usual_folders_notice(const RunDirectory& directory);

// What people shall know about the event files of a run: which were not read to their end, and why.
Notices event_file_notices(const RunDirectory& directory);

}  // namespace ponk::executor

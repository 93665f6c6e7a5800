// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"
#include "os/fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The TensorBoard event files of a run's working copy (docs/design/tensorboard.md).
namespace ponk::executor {

// Where event files are looked for besides `outputs/` and the usual folders, and which of them are
// not the run's.
struct EventFolders {
    std::string folder;  // relative to the working copy; empty: none
    // Those that came with the project's files: path, and head as below.
    std::vector<std::pair<std::string, std::string>> before;
};

// A folder that may be named: relative, and not above the working copy.
bool is_event_folder(std::string_view folder);

// Before the script begins: writes down where to look, and what is there already.
Result<> note_event_folders(const Job& job);
EventFolders read_event_folders(const RunDirectory& directory);

struct EventFile {
    std::string path;    // relative to the working copy
    std::string prefix;  // of its metrics: its folder, relative to where was looked
    std::uint64_t size = 0;
    std::uint64_t inode = 0;
};

constexpr std::size_t most_event_files = 1000;

// What is there now, sorted within each folder. Links are not followed. At most
// `most_event_files`, out of the first 200,000 names.
std::vector<EventFile> find_event_files(const RunDirectory& directory, const std::string& folder);

// The usual folder ("runs") in which a file was found that lies in no folder that was named; else
// empty.
std::string_view usual_folder_of(std::string_view path, const std::string& folder);

Result<os::Fd> open_event_file(const RunDirectory& directory, const EventFile& file);

// What tells a file from one that took its place: the checksum of its first record, which holds the
// time of its making. nullopt while that record is not whole.
std::optional<std::string> head_of_event_file(int fd, std::uint64_t size);

}  // namespace ponk::executor

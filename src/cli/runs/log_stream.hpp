// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/daemon.hpp"
#include "cli/terminal/terminal_filter.hpp"
#include "os/file.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ponk::cli {

// What a line of a log looks like in the end: a progress bar writes over itself by CR, and a pager
// would show each of its states.
class OverwrittenLines {
public:
    // The lines that are complete with these bytes.
    std::string feed(std::string_view bytes);
    std::string finish();

private:
    void take(char c, std::string& out);

    std::string line_;
    bool returned_ = false;  // the next character writes over the line
};

// The run's copy of the project in a log, as the project's own path: a user opens what a traceback
// names. Bytes may be cut anywhere.
class ProjectPaths {
public:
    ProjectPaths() = default;  // changes nothing
    ProjectPaths(std::vector<std::string> copies, std::string project);

    // What can still be the start of such a path is held back.
    std::string feed(std::string_view bytes);
    std::string finish();

private:
    std::vector<std::string> copies_;  // each with its last '/'
    std::string project_;
    std::string held_;
};

// For the log of this run.
ProjectPaths project_paths(const os::Path& home, const Json& run);

// Where a log goes: exact bytes into a file or pipe, filtered ones on a terminal.
class LogWriter {
public:
    // `before` is called before bytes are shown on a terminal.
    explicit LogWriter(int fd, std::function<void()> before = {}, ProjectPaths paths = {});
    Result<> write(std::string_view bytes);
    Result<> finish();

private:
    Result<> give(const std::string& shown);

    int fd_;
    std::function<void()> before_;
    bool terminal_;
    ProjectPaths paths_;
    TerminalFilter filter_;
    std::string shown_;
    OverwrittenLines lines_;
    char last_ = '\n';  // that was written
};

enum class Follow { no, yes };
enum class LogForm { masked, raw };

struct LogRequest {
    std::string run;           // full id
    std::uint64_t offset = 0;  // behind `from`
    Follow follow = Follow::no;
    LogForm form = LogForm::masked;
    std::uint64_t from = 0;  // of `find_log_tail`
};

// Copies the log of a run to `writer`, each byte once: when the daemon dies or is replaced, it goes
// on where it was. Returns the number of bytes; `cancelled` when stopped.
Result<std::uint64_t>
copy_log(Daemon& daemon, const LogRequest& request, LogWriter& writer, std::stop_token stop = {});

// Where the last lines of a log begin. The daemon reads only them.
Result<std::uint64_t> find_log_tail(Daemon& daemon, const std::string& run, std::uint64_t lines);

// What is wrong with the log of an ended run, by its exit record; nullopt when all is as it was. A
// large log may take the daemon a while.
Result<std::optional<Error>> find_log_damage(Daemon& daemon, const std::string& run);

}  // namespace ponk::cli

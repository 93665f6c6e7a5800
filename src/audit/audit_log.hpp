// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "audit/log_files.hpp"
#include "audit/tally.hpp"
#include "base/synced.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ponk::audit {

struct Limits {
    std::uint64_t file = std::uint64_t{8} << 20;
    std::uint64_t total = std::uint64_t{256} << 20;
    std::chrono::milliseconds window{60'000};  // of summaries and of calls that repeat
    std::size_t kinds = 32;                    // of a caller's refused and failed calls in a window
    std::uint64_t daily = std::uint64_t{16} << 20;  // bytes of a caller's lines
};

// A call that is only counted.
struct Counting {
    std::string_view who;
    std::string_view listener;
    std::string_view peer;
    std::string_view method;
    std::string_view prefix;  // of the route
    std::string_view pattern;
};

// Writes the audit log of a home folder. There is one writer, whoever holds the folder. Safe to
// call from any thread; only `write` waits for the disk, and nothing waits for it to be synced:
// that is done within a second.
class AuditLog {
public:
    // Tells what a person should know: once for each problem.
    using Tell = std::function<void(const std::string& line)>;

    // Repairs the end that a crash left, and notes that in the log. What cannot be written now (the
    // disk is full, say) is counted, and the log says later how much that was.
    explicit AuditLog(Path home, Tell tell = {}, Limits limits = {});
    // Writes and syncs all that waits.
    ~AuditLog();
    AuditLog(const AuditLog&) = delete;
    AuditLog& operator=(const AuditLog&) = delete;

    // A call that was answered. In the log when it returns: another process may read it. Of failed
    // calls, and of a caller's that has had its share of the day, only the first of a kind in a
    // minute has a line, the others are counted.
    void write(Record record);
    // One line for each caller, route and minute. Costs no memory once that has begun.
    void count(const Counting& call);
    // The first of its kind in a minute has a line, the others are counted. Does not wait.
    void refuse(Record record);

    // Now, what would be written within a second or at the end of a minute.
    void flush();

private:
    // What others leave here for the thread; held for a moment.
    struct Waiting {
        std::vector<Record> records;
        Usage usage;
        Tally calls;
        Tally repeats;           // refused and failed calls, and those of callers without a share
        std::int64_t since = 0;  // the beginning of the window; 0: nothing is counted
        bool written = false;    // since the last sync
        bool ends = false;

        [[nodiscard]] bool has_work() const
        {
            return written || !records.empty() || !calls.empty() || !repeats.empty();
        }
    };

    Result<> take_up();
    // What callers have had of this day's log, as far as it can be read.
    void measure_usage(const std::vector<LogFile>& files);
    // Whether it is the first of its kind in a minute; else it is counted.
    static bool begins_kind(Waiting& waiting, const Record& record, Share share);
    void serve();
    enum class Counts { when_due, now };
    [[nodiscard]] std::vector<Record> take_waiting(Counts counts);
    void write_waiting(Counts counts);
    // With `writing_` held.
    void append(const std::vector<Record>& records);
    Result<> append_measured(const Record& record);
    Result<std::uint64_t> append_line(const Record& record);  // its bytes
    Result<> open_file(std::int64_t number);
    Result<> open_next();
    Result<> remove_oldest();
    void note_problem(const Error& error);
    // Syncs what was written, then notes how far that is. Not with `writing_` held.
    void sync();

    const Path home_;
    const Tell tell_;
    const Limits limits_;

    std::mutex writing_;  // one writer at a time, over the disk
    os::Fd file_;
    std::int64_t number_ = 0;  // of the file
    std::uint64_t size_ = 0;   // of the file
    Head head_;
    std::int64_t lost_ = 0;  // records that could not be written
    std::string problem_;    // as it was last reported

    std::mutex syncing_;  // one at a time
    Synced<Waiting> waiting_;
    std::condition_variable changed_;
    std::thread thread_;
};

}  // namespace ponk::audit

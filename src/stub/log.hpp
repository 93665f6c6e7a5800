// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stub/sha256.hpp"

#include <cstdint>

namespace ponk::stub {

// Looks after the run's log, which only the script writes: keeps some space reserved ahead of its
// end, so that its last words get through on a full disk, hashes what is there, and notes when
// which byte was written.
class Log {
public:
    // `fd` is the script's own description of the file.
    void open(int fd);
    // A descriptor that becomes readable when the log grows; -1 where there is none.
    [[nodiscard]] int watch() const { return watch_; }
    void forget_events() const;
    // Hashes up to `budget` bytes. Returns true when there is more.
    bool look(std::uint64_t budget);
    // After the last writer is gone: gives the reserve back, computes the rest. The digest stays
    // empty of a log with a hole so large that nobody can wait for its zeros.
    void finish(char* digest);
    [[nodiscard]] std::uint64_t length() const { return hashed_; }
    // The script used up all room that there was: what it said last may not have got through.
    [[nodiscard]] bool was_full() const { return full_; }

private:
    void mark(std::uint64_t size);
    void keep_room(std::uint64_t size);
    void count_hole();
    void begin_writing();

    int fd_ = -1;
    int reader_ = -1;
    int times_ = -1;
    int watch_ = -1;
    std::uint64_t hashed_ = 0;
    std::uint64_t begun_ = 0;         // up to here the kernel was asked to write to the disk
    std::uint64_t reserved_end_ = 0;  // up to here there is room for the log
    std::uint64_t marked_size_ = 0;
    bool full_ = false;
    std::uint64_t holes_ = 0;      // bytes that were never written, as far as we looked
    std::uint64_t holes_end_ = 0;  // of the last one
    std::int64_t started_ = 0;
    std::int64_t next_mark_ = 0;
    Sha256 hash_;
};

}  // namespace ponk::stub

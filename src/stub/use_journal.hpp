// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stub/tree.hpp"

#include <cstdint>

namespace ponk::stub {

// Processor and memory use of the run over time, in a metric journal of our own beside those of the
// script (docs/design/metric-journal.md). A run that ends before the first sample has none, and one
// that cannot be written is not a reason to stop.
class UseJournal {
public:
    UseJournal(const char* run, std::int64_t started_boot) : run_(run), started_(started_boot) {}

    // By boot_ms().
    [[nodiscard]] std::int64_t next() const { return next_; }
    void begin(std::int64_t now);
    void sample(std::int64_t now);

private:
    void open();
    void write(const char* payload, std::size_t size) const;

    const char* run_;
    std::int64_t started_;
    std::int64_t next_ = 0;
    std::int64_t at_ = 0;  // of the sample before
    Use before_;
    int file_ = -1;
    bool opened_ = false;
};

}  // namespace ponk::stub

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/synced.hpp"
#include "output/terminal.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace ponk::cli {

// When a line of progress is worth a line of a file that people read later: after two seconds, then
// after ever longer pauses, up to a minute. Times are since some fixed moment.
class ProgressPace {
public:
    using Time = std::chrono::steady_clock::time_point;

    explicit ProgressPace(Time start) : next_(start + pause_) {}
    bool due(Time now);

private:
    std::chrono::milliseconds pause_{2000};
    Time next_;
};

// Shows how far some long work has come, on standard error. On a terminal it is one line that
// changes and goes away; elsewhere plain lines, few of them. Safe from several threads.
class ProgressLine {
public:
    explicit ProgressLine(int fd);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(std::string_view text);
    // Takes the line away; to be called before anything else is written to the terminal.
    void clear();

private:
    struct State {
        ProgressPace pace{std::chrono::steady_clock::now()};
        bool shown = false;
    };

    int fd_;
    output::Terminal terminal_;
    bool changing_;  // the terminal can take a line away
    Synced<State> state_;
};

}  // namespace ponk::cli

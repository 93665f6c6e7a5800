// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "output/terminal.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace ponk::cli {

// One value of a metric.
struct LoggedValue {
    std::string key;
    Json step;
    Json time;  // milliseconds since 1970
    Json value;
};

// What a run logs, look by look: each value once, in the order of their times. Without what ponk
// measures itself.
class MetricFollower {
public:
    MetricFollower(Daemon& daemon, std::string run) : daemon_(daemon), run_(std::move(run)) {}

    // Values that came since the last look. Of very many the latest; the others are counted.
    struct Look {
        std::vector<LoggedValue> values;
        std::int64_t left_out = 0;
    };
    Result<Look> look(std::stop_token stop);

private:
    Daemon& daemon_;
    std::string run_;
    std::map<std::string, std::int64_t> seen_;  // how many of each
};

// The latest of each metric for a terminal that is drawn again and again.
class MetricBoard {
public:
    void add(const LoggedValue& value);
    // The run, then a line for each metric: name, step, value and its course.
    [[nodiscard]] std::vector<std::string> lines(const Json& run,
                                                 const output::Terminal& terminal) const;

private:
    struct Row {
        Json step;
        Json value;
        std::deque<double> course;
    };
    std::map<std::string, Row> rows_;
};

// "loss 7 0.25"
std::string plain_line(const LoggedValue& value);

// `history info --follow`: the record, then every value as it comes, until the run has ended.
Outcome follow_metrics(Context& context, const Json& record);

}  // namespace ponk::cli

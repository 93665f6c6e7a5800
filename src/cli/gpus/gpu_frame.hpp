// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "output/terminal.hpp"

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ponk::cli {

// What each GPU did in the last minute, by "address uuid".
class GpuMinute {
public:
    // Notes the figures of all `devices` at a moment (milliseconds of any steady clock).
    void add(const JsonArray& devices, std::int64_t now);
    // Shares 0…1 of `key` ("utilisation", "sm_activity"), the oldest first, one for each of `width`
    // equal parts of the minute; NaN where nothing was seen.
    [[nodiscard]] std::vector<double>
    shares(const Json& device, const std::string& key, std::size_t width, std::int64_t now) const;

private:
    std::map<std::string, std::deque<std::pair<std::int64_t, double>>> seen_;
};

// The view of `ponk gpu watch`: lines without their ends, none wider than the terminal.
struct GpuFrame {
    JsonArray devices;               // as devices_of gives them
    std::vector<std::string> notes;  // what could not be asked, and why
    std::string title;
};
// What keeps a target from being shown, and the next step. Two targets on one machine have one
// problem.
void add_problem(GpuFrame& frame,
                 const std::string& target,
                 const std::string& message,
                 const std::string& hint);

std::vector<std::string> draw_gpus(const GpuFrame& frame,
                                   const GpuMinute& minute,
                                   std::int64_t now,
                                   const output::Terminal& terminal);

// The same as one plain line per GPU, for files and pipes.
std::vector<std::string> gpu_lines(const GpuFrame& frame);

}  // namespace ponk::cli

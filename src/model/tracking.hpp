// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ponk::model {

// What the relay of a run must know to answer MLflow's clients: the file `relay` of the run
// directory, docs/design/relay.md.
struct Tracking {
    std::string run;
    std::string token;  // that its clients show
    std::string experiment;
    std::string experiment_name;
    std::string run_name;
    bool is_named = false;  // by who submitted it: the script's own name for its run does not count
    std::string user;
    std::int64_t started = 0;  // wall-clock milliseconds
    std::vector<std::pair<std::string, std::string>> tags;
    std::string outputs;  // folder of the run's artifacts, as the relay sees it
};

std::string to_text(const Tracking& tracking);
Result<Tracking> parse_tracking(std::string_view text);

}  // namespace ponk::model

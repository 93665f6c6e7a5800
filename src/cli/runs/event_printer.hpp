// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/client/context.hpp"
#include "cli/client/daemon.hpp"
#include "cli/terminal/progress_line.hpp"
#include "os/wait.hpp"

#include <cstdint>
#include <string>
#include <thread>

namespace ponk::cli {

// Prints progress and notices of a run on standard error, from a thread of its own. Whatever goes
// wrong here is not told: the log and the final record are what counts.
class EventPrinter {
public:
    EventPrinter(const Context& context, Daemon daemon, std::string run);

    // The stream ends with the run; a moment is granted for its last lines.
    void finish();
    // Prints what has happened so far and no more; for a run that we leave alone.
    void catch_up();
    // No line of ours comes after this.
    void stop();
    // To be called before bytes of the script are shown.
    void make_way() { progress_.clear(); }

private:
    void work(const std::stop_token& stop);
    bool print_events(std::string_view follow, const std::stop_token& stop);
    void line(std::string_view text);

    const Context& context_;
    Daemon daemon_;  // a connection of our own; created again when it broke
    std::string run_;
    std::int64_t last_ = 0;
    std::string partial_;
    ProgressLine progress_;
    os::Bell done_;
    std::jthread thread_;
};

}  // namespace ponk::cli

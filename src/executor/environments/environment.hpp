// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/job/job.hpp"

#include <string>
#include <vector>

namespace ponk::executor {

// Variables of a process, in order, each name once.
class Environment {
public:
    explicit Environment(const std::vector<std::string>& words = {});
    void set(const std::string& name, const std::string& value);
    void unset(const std::string& name);
    [[nodiscard]] std::string get(const std::string& name) const;
    [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }
    // Each word ended by NUL: how it travels to the supervisor.
    [[nodiscard]] std::string bytes() const;

private:
    std::vector<std::string> words_;
};

// Where things are, as the script's own processes see them.
struct RunPlaces {
    std::string tree;            // its copy of the project; it starts there
    std::string control;         // the run directory
    std::string python_modules;  // for PYTHONPATH
    std::string shared;          // empty: none
};

// What the script sees: `ground` (the user's shell, or what the image sets), then the
// configuration, then ours.
Environment compose_environment(const Job& job,
                                const std::vector<std::string>& ground,
                                const RunPlaces& places);

}  // namespace ponk::executor

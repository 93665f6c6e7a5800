// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "target/executor.hpp"

#include <string>
#include <vector>

namespace ponk::target::local {

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

// What the script sees: the user's shell, then the configuration, then ours.
Environment compose_environment(const JobSpec& spec, const Path& tree, const Path& python_modules);

}  // namespace ponk::target::local
